;;; relay-mode.el --- Relay, the tensor IR of TVM  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: languages
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Colours, comments and indentation for `.relay' and `.rly' files, and the language server for
;; Eglot:
;;
;;   (add-to-list 'load-path "…/editors/emacs")
;;   (require 'relay-mode)
;;   (add-hook 'relay-mode-hook #'eglot-ensure)
;;
;; Settings go to the server from `eglot-workspace-configuration', for instance
;;
;;   (setq-default eglot-workspace-configuration '(:relay (:tvm t)))

;;; Code:

(defgroup relay nil
  "Relay, the tensor IR of TVM."
  :group 'languages)

(defcustom relay-indent-offset 2
  "Columns that a bracket moves the lines in it to the right."
  :type 'natnum
  :safe #'natnump)

(defcustom relay-analyzer-command '("relay-analyzer" "lsp")
  "The language server, as a program and its arguments.
Eglot takes it as it is when this file is loaded."
  :type '(repeat string))

(defvar relay-mode-syntax-table
  (let ((table (make-syntax-table)))
    ;; `//' to the end of the line; `/* */', one in another.
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23n" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?\" "\"" table)
    ;; A string has no escapes.
    (modify-syntax-entry ?\\ "." table)
    ;; Names: `%input.1', `@main', `%0', `nn.conv2d'.
    (dolist (character '(?% ?@ ?. ?_))
      (modify-syntax-entry character "_" table))
    (dolist (character '(?+ ?- ?= ?< ?> ?& ?| ?! ?? ?#))
      (modify-syntax-entry character "." table))
    table)
  "The roles of characters in Relay.")

(defconst relay--name (let ((part "\\(?:[[:alnum:]_]\\|/[[:alnum:]_]\\)"))
    (concat "[[:alpha:]_]" part "*\\(?:\\(?:\\.\\|::\\)" part "+\\)*"))
  "A name behind its sigil, such as `aten::linear_3.bias' or `resnet/conv1'.")

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
  "Colours of what is neither a comment nor a string.")

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
      (let ((behind (- (current-column) (current-indentation))))
        (indent-line-to (* relay-indent-offset (max 0 depth)))
        (when (> behind 0)
          (move-to-column (+ (current-indentation) behind)))))))

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
