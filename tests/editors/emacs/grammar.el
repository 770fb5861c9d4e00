;;; grammar.el --- The tree-sitter grammar in Emacs  -*- lexical-binding: t -*-

;;   emacs -Q --batch -l tests/editors/emacs/grammar.el INIT
;;
;; INIT is an init file that enables `relay-ts-mode'. The grammar is compiled into the home.
;; RELAY_TEST_FILE: tests/examples/lists.relay

(require 'cl-lib)
(require 'imenu)

(unless (and (fboundp 'treesit-available-p) (treesit-available-p))
  (princ "SKIPPED: this Emacs was built without tree-sitter\nOK\n")
  (kill-emacs 0))

;; The file is one of the repository, which other tests copy meanwhile.
(setq create-lockfiles nil)

(load (expand-file-name (pop command-line-args-left)) nil t)

(defun same (found wanted what)
  (unless (equal found wanted)
    (error "%s: wanted %S, found %S" what wanted found)))

(defun face-of (text)
  "The face of the first letter of the first TEXT."
  (goto-char (point-min))
  (search-forward text)
  (get-text-property (match-beginning 0) 'face))

(find-file (getenv "RELAY_TEST_FILE"))
(same major-mode 'relay-ts-mode "the mode")
(setq-local treesit-font-lock-level 4)
(treesit-font-lock-recompute-features)
(font-lock-ensure)
(same (face-of "// Data") 'font-lock-comment-face "a comment")
(same (face-of "def ") 'font-lock-keyword-face "a keyword")
(same (face-of "@sum") 'font-lock-function-name-face "the name of a definition")
(same (face-of "@map(%double") 'font-lock-function-call-face "a call")
(same (face-of "%rows:") 'font-lock-variable-name-face "a parameter")
(same (face-of "%first, %rest) => @sum") 'font-lock-variable-name-face "a pattern")
(same (face-of "%start, %first)") 'font-lock-variable-use-face "a variable")
(same (face-of "float32") 'font-lock-builtin-face "a data type")
(same (face-of "Rows") 'font-lock-type-face "a type")
(same (face-of "zeros") 'font-lock-builtin-face "an operator")
(same (face-of "shape=") 'font-lock-property-name-face "an attribute")
(same (face-of "8)") 'font-lock-number-face "a number")
(same (face-of "\"float32") 'font-lock-string-face "a string")
(princ "fontified\n")

(goto-char (point-min))
(search-forward "let %double")
(beginning-of-defun)
(same (looking-at-p "def @main") t "the start of the definition")
(same (treesit-defun-name (treesit-defun-at-point)) "@main" "its name")
(same (mapcar #'car (cl-remove-if #'imenu--subalist-p (cdr (imenu--make-index-alist t)))) '("@sum" "@map" "@main")
      "the index")

;; Typed text is highlighted at once, and the text after it unchanged.
(goto-char (point-max))
(insert "def @typed() { add(1, ; 2 }\ndef @after() { 3 }\n")
(font-lock-ensure)
(same (face-of "@after") 'font-lock-function-name-face "the definition after an error")
(goto-char (point-min))
(search-forward "let %double")
(goto-char (line-beginning-position))
(indent-line-to 0)
(funcall indent-line-function)
(same (current-indentation) 2 "the indentation")
(set-buffer-modified-p nil)
(princ "OK\n")
;;; grammar.el ends here
