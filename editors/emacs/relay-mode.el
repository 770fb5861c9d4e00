;;; relay-mode.el --- Relay, the tensor IR of TVM  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: languages
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Syntax highlighting, comments and indentation for `.relay' and `.rly' files, and the language server
;; for Eglot:
;;
;;   (add-to-list 'load-path "…/editors/emacs")
;;   (require 'relay-mode)
;;   (add-hook 'relay-mode-hook #'eglot-ensure)
;;
;; Settings are sent to the server from `eglot-workspace-configuration', for instance
;;
;;   (setq-default eglot-workspace-configuration '(:relay (:tvm t)))
;;
;; `relay-run' (C-c C-c) runs the function at point and shows the result.

;;; Code:

(defgroup relay nil
  "Relay, the tensor IR of TVM."
  :group 'languages)

(defcustom relay-indent-offset 2
  "Indentation of lines inside brackets, in columns."
  :type 'natnum
  :safe #'natnump)

(defcustom relay-analyzer-command '("relay-analyzer" "lsp")
  "The language server, as a program and its arguments.
Eglot takes it as it is when this file is loaded."
  :type '(repeat string))

(defvar relay-mode-syntax-table
  (let ((table (make-syntax-table)))
    ;; `//' to the end of the line; `/* */', which nests.
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23n" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?\" "\"" table)
    ;; Strings have no escapes.
    (modify-syntax-entry ?\\ "." table)
    ;; Names: `%input.1', `@main', `%0', `nn.conv2d'.
    (dolist (character '(?% ?@ ?. ?_))
      (modify-syntax-entry character "_" table))
    (dolist (character '(?+ ?- ?= ?< ?> ?& ?| ?! ?? ?#))
      (modify-syntax-entry character "." table))
    table)
  "Syntax table for Relay.")

(defconst relay--name (let ((part "\\(?:[[:alnum:]_]\\|/[[:alnum:]_]\\)"))
    (concat "[[:alpha:]_]" part "*\\(?:\\(?:\\.\\|::\\)" part "+\\)*"))
  "A name after its sigil, such as `aten::linear_3.bias' or `resnet/conv1'.")

(defconst relay-font-lock-keywords
  `(;; Before all else: a sigil begins a name, whatever the rest of it looks like.
    (,(concat "\\_<def\\s-+\\(@" relay--name "\\)") 1 'font-lock-function-name-face)
    (,(concat "@" relay--name) . 'font-lock-function-call-face)
    (,(concat "\\_<let\\s-+\\(%" relay--name "\\)") 1 'font-lock-variable-name-face)
    (,(concat "%\\(?:" relay--name "\\|[0-9]+\\)") . 'font-lock-variable-use-face)
    ("^\\s-*\\(type\\|data\\)\\s-+\\([[:alpha:]_][[:alnum:]_]*\\)"
     (1 'font-lock-keyword-face) (2 'font-lock-type-face))
    ("#\\[\\s-*\\(?:version\\|metadata\\)[^]\n]*\\]" 0 'font-lock-preprocessor-face t)
    (,(concat "\\_<" (regexp-opt '("def" "fn" "let" "free_var" "extern" "if" "else" "case" "where"
                                   "ref" "ref_read" "ref_write"))
              "\\_>\\|\\_<match\\_>\\??")
     . 'font-lock-keyword-face)
    (,(regexp-opt '("True" "False" "None") 'symbols) . 'font-lock-constant-face)
    ("\\_<meta\\[[^][\n]*\\]\\(?:\\[[^][\n]*\\]\\)?" . 'font-lock-constant-face)
    ("\\_<\\(?:\\(?:bfloat\\|float\\|uint\\|int\\)[0-9]+\\|bool\\)\\(?:x[0-9]+\\)?\\_>"
     . 'font-lock-type-face)
    ("\\_<[[:upper:]][[:alnum:]_]*\\_>" . 'font-lock-type-face)
    ("\\_<\\([[:alpha:]_][[:alnum:]_.]*\\)\\s-*=\\([^=>]\\|$\\)" 1 'font-lock-property-name-face)
    ("\\_<\\([[:lower:]][[:alnum:]_.]*\\)\\s-*(" 1 'font-lock-builtin-face)
    ("\\_<[0-9]+\\(?:\\.[0-9]*\\)?\\(?:e[+-]?[0-9]+\\)?\\(?:[fiu][0-9]*\\)?\\_>"
     . 'font-lock-number-face))
  "Font-lock rules except for comments and strings.")

(defconst relay--syntax-propertize
  (syntax-propertize-rules
   ;; `#' begins a comment in the manual's notation; `#[' does not.
   ("\\(#\\)\\(?:[^[\n]\\|$\\)"
    (1 (unless (nth 8 (save-excursion (syntax-ppss (match-beginning 0))))
         (string-to-syntax "< b"))))))

(defun relay-indent-line ()
  "Indent the line by the brackets around it.
Lines of a comment or a string stay as they are."
  (interactive)
  (let* ((state (save-excursion (syntax-ppss (line-beginning-position))))
         (closes (save-excursion (back-to-indentation) (looking-at-p "[])}]")))
         (depth (- (nth 0 state) (if closes 1 0))))
    (if (nth 8 state)
        'noindent
      (let ((column (- (current-column) (current-indentation))))
        (indent-line-to (* relay-indent-offset (max 0 depth)))
        (when (> column 0)
          (move-to-column (+ (current-indentation) column)))))))

(declare-function eglot-current-server "eglot" ())
(declare-function jsonrpc-async-request "jsonrpc" (connection method params &rest arguments))

(defun relay--run-arguments (text)
  "Parse the arguments in TEXT: `x=image.npy n=3 weights.params seed=1'.
A value is read as JSON where it is JSON; else it is the name of a file."
  (let (inputs archives params seed)
    (dolist (word (split-string text))
      (cond
       ((string-match "\\`%?\\([^=]+\\)=\\(.*\\)\\'" word)
        (let* ((name (match-string 1 word))
               (given (match-string 2 word))
               (value (condition-case nil (json-parse-string given) (error given))))
          (if (equal name "seed")
              (setq seed value)
            (setq inputs (nconc inputs (list (intern (concat ":" name)) value))))))
       ((string-suffix-p ".npz" word) (push word archives))
       (t (push word params))))
    (append (and inputs (list :inputs inputs))
            (and archives (list :archives (vconcat (nreverse archives))))
            (and params (list :params (vconcat (nreverse params))))
            (and seed (list :seed seed))
            ;; Typed arguments are saved for the next run.
            (and (or inputs archives params seed) (list :remember t)))))

(defun relay--show-run (result)
  "Show RESULT, the response to `relay.run', in a buffer."
  (let ((buffer (get-buffer-create "*Relay run*")))
    (with-current-buffer buffer
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (or (plist-get result :text) (plist-get result :title) "") "\n"))
      (goto-char (point-min))
      (unless (derived-mode-p 'special-mode) (special-mode))
      (setq-local truncate-lines t))
    (display-buffer buffer)))

(defun relay-run (&optional arguments)
  "Run the function or bare expression at point, and show the result.
With a prefix argument, ask for ARGUMENTS first, such as
`x=image.npy n=3 weights.params seed=1'; what is not given is what
`.relay/run.json' remembers, or is drawn from the seed."
  (interactive
   (list (and current-prefix-arg
              (read-string "Arguments (x=image.npy n=3 weights.params seed=1): "))))
  (let ((server (or (and (fboundp 'eglot-current-server) (eglot-current-server))
                    (user-error "No server here: start one with `M-x eglot'")))
        (uri (funcall (if (fboundp 'eglot-path-to-uri) 'eglot-path-to-uri 'eglot--path-to-uri)
                      (or buffer-file-name (user-error "This buffer has no file"))))
        (place (list :line (1- (line-number-at-pos nil t))
                     :character (- (point) (line-beginning-position)))))
    (message "Relay: running…")
    ;; Deferred, so that it follows pending edits. Runs have their own time limit.
    (jsonrpc-async-request
     server :workspace/executeCommand
     (list :command "relay.run"
           :arguments (vector (append (list :uri uri :position place)
                                      (and arguments (relay--run-arguments arguments)))))
     :deferred :workspace/executeCommand
     :timeout nil
     :success-fn #'relay--show-run
     :error-fn (lambda (problem) (message "Relay: %s" (plist-get problem :message))))
    nil))

(defvar-keymap relay-mode-map
  :doc "Keys of `relay-mode'."
  "C-c C-c" #'relay-run)

;;;###autoload
(define-derived-mode relay-mode prog-mode "Relay"
  "Edit Relay, the tensor IR of TVM."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "\\(?://+\\|/\\*+\\|#+\\)\\s-*")
  (setq-local font-lock-defaults '(relay-font-lock-keywords))
  (setq-local syntax-propertize-function relay--syntax-propertize)
  (setq-local indent-line-function #'relay-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local tab-width relay-indent-offset)
  (setq-local imenu-generic-expression
              `((nil ,(concat "^def\\s-+\\(@" relay--name "\\)") 1)
                ("Types" "^\\(?:type\\|data\\)\\s-+\\([[:alpha:]_][[:alnum:]_]*\\)" 1))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.\\(?:relay\\|rly\\)\\'" . relay-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons 'relay-mode relay-analyzer-command)))

(provide 'relay-mode)
;;; relay-mode.el ends here
