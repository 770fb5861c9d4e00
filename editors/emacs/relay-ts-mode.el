;;; relay-ts-mode.el --- Relay by its tree-sitter grammar  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: languages
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; `relay-mode' with highlighting, motion and an index from the syntax tree:
;;
;;   (add-to-list 'load-path "…/editors/emacs")
;;   (require 'relay-ts-mode)
;;   (relay-ts-mode-use)
;;
;; `relay-ts-mode-use' compiles the grammar with a C compiler if it is not installed.  It requires an
;; Emacs that was built with tree-sitter.

;;; Code:

(require 'relay-mode)
(require 'treesit)

(declare-function treesit-parser-create "treesit.c")
(declare-function treesit-node-type "treesit.c")
(declare-function treesit-node-child-by-field-name "treesit.c")

(defconst relay-ts-mode--source
  (expand-file-name "../tree-sitter/src/"
                    (file-name-directory (file-truename (or load-file-name buffer-file-name))))
  "The folder of the generated parser, in a clone of the repository.")

(defvar relay-ts-mode--builtin-type
  "\\`\\(?:bool\\|\\(?:float\\|bfloat\\|int\\|uint\\)[0-9]+\\)\\(?:x[0-9]+\\)?\\'"
  "A regular expression for the data types of tensors.")

(defun relay-ts-mode--font-lock-rules ()
  "The value of `treesit-font-lock-settings'.
It cannot be made without the grammar."
  (treesit-font-lock-rules
   :language 'relay
   :feature 'comment
   '([(line_comment) (block_comment) (unclosed_comment) (log_line)] @font-lock-comment-face)

   :language 'relay
   :feature 'definition
   '((function_definition name: (bound_global) @font-lock-function-name-face)
     (bound_local) @font-lock-variable-name-face
     (graph_statement name: (graph) @font-lock-variable-name-face)
     (type_definition name: (type_identifier) @font-lock-type-face))

   :language 'relay
   :feature 'keyword
   '(["def" "fn" "let" "free_var" "type" "data" "extern" "if" "else" "match" "case" "where"
      "ref" "ref_read" "ref_write"] @font-lock-keyword-face
     (version ["#[" "version"] @font-lock-preprocessor-face)
     (old_version) @font-lock-preprocessor-face
     (metadata_header) @font-lock-preprocessor-face)

   :language 'relay
   :feature 'string
   '([(string) (quoted_name)] @font-lock-string-face)

   :language 'relay
   :feature 'type
   `(((type_identifier) @font-lock-builtin-face
      (:match ,relay-ts-mode--builtin-type @font-lock-builtin-face))
     (type_identifier) @font-lock-type-face
     (tensor_type "Tensor" @font-lock-type-face)
     (custom_dtype) @font-lock-builtin-face
     (hole_type) @font-lock-type-face
     (constructor_name) @font-lock-type-face)

   :language 'relay
   :feature 'constant
   '((boolean) @font-lock-constant-face
     (meta) @font-lock-constant-face
     ((identifier) @font-lock-constant-face (:match "\\`None\\'" @font-lock-constant-face)))

   :language 'relay
   :feature 'number
   '([(integer) (float)] @font-lock-number-face
     (shape "?" @font-lock-number-face))

   :language 'relay
   :feature 'function
   '((global) @font-lock-function-call-face
     ((identifier) @font-lock-type-face (:match "\\`[A-Z]" @font-lock-type-face))
     (identifier) @font-lock-builtin-face
     (relation_name) @font-lock-builtin-face)

   :language 'relay
   :feature 'property
   '((attribute_name) @font-lock-property-name-face)

   :language 'relay
   :feature 'variable
   '([(local) (graph) (shape_variable)] @font-lock-variable-use-face)

   :language 'relay
   :feature 'operator
   '((binary_expression operator: _ @font-lock-operator-face)
     ["=" "->" "=>" "^" ":="] @font-lock-operator-face)

   :language 'relay
   :feature 'bracket
   '(["(" ")" "[" "]" "{" "}"] @font-lock-bracket-face)

   :language 'relay
   :feature 'delimiter
   '(["," ";" ":" "."] @font-lock-delimiter-face)))

(defun relay-ts-mode--defun-name (node)
  "The name of the definition NODE."
  (let ((name (treesit-node-child-by-field-name node "name")))
    (and name (treesit-node-text name t))))

(defun relay-ts-mode-install-grammar ()
  "Compile the grammar of Relay into the folder of Emacs for grammars.
The C compiler is that of the environment variable CC, or cc."
  (interactive)
  (let* ((folder (locate-user-emacs-file "tree-sitter"))
         (library (expand-file-name (concat "libtree-sitter-relay" module-file-suffix) folder))
         (files (mapcar (lambda (name) (expand-file-name name relay-ts-mode--source))
                        '("parser.c" "scanner.c"))))
    (unless (file-exists-p (car files))
      (user-error "There is no grammar at %s: this file is not part of a clone" relay-ts-mode--source))
    (make-directory folder t)
    (with-temp-buffer
      (unless (eq 0 (apply #'call-process (or (getenv "CC") "cc") nil t nil
                           "-std=c11" "-O2" "-shared" "-fPIC" "-I" relay-ts-mode--source
                           "-o" library files))
        (user-error "The grammar cannot be compiled: %s" (buffer-string))))
    (message "The grammar is at %s" library)))

;;;###autoload
(define-derived-mode relay-ts-mode relay-mode "Relay"
  "Edit Relay, the tensor IR of TVM, with its tree-sitter grammar."
  (when (treesit-ready-p 'relay)
    (treesit-parser-create 'relay)
    (setq-local treesit-font-lock-settings (relay-ts-mode--font-lock-rules))
    (setq-local treesit-font-lock-feature-list
                '((comment definition)
                  (keyword string type)
                  (constant number function property)
                  (variable operator bracket delimiter)))
    (setq-local treesit-defun-type-regexp "\\`\\(?:function\\|type\\)_definition\\'")
    (setq-local treesit-defun-name-function #'relay-ts-mode--defun-name)
    (setq-local imenu-generic-expression nil)
    (setq-local treesit-simple-imenu-settings
                '((nil "\\`function_definition\\'" nil nil)
                  ("Types" "\\`type_definition\\'" nil nil)))
    (treesit-major-mode-setup)))

;;;###autoload
(defun relay-ts-mode-use ()
  "Edit Relay files in `relay-ts-mode', and compile its grammar if necessary.
Where that cannot be done, `relay-mode' stays."
  (cond
   ((not (and (fboundp 'treesit-available-p) (treesit-available-p)))
    (message "Relay: this Emacs was built without tree-sitter"))
   (t
    (unless (treesit-language-available-p 'relay)
      (condition-case problem
          (relay-ts-mode-install-grammar)
        (error (message "Relay: %s" (error-message-string problem)))))
    (when (treesit-language-available-p 'relay)
      (add-to-list 'auto-mode-alist '("\\.\\(?:relay\\|rly\\)\\'" . relay-ts-mode))))))

(provide 'relay-ts-mode)
;;; relay-ts-mode.el ends here
