;;; drive.el --- Editing a Relay file in Emacs  -*- lexical-binding: t -*-

;; Calls editing commands directly, since a batch has no keyboard.
;;
;;   emacs -Q --batch -l tests/editors/emacs/drive.el INIT FOLDER
;;
;; INIT is an init file. FOLDER is temporary. `relay-analyzer' is the first of that name on the PATH.
;; RELAY_TEST_FILE: tests/examples/broken-attention.relay, or a copy of it

(require 'cl-lib)
(require 'flymake)
(require 'xref)

;; The init file: that of editors/README.md.
(load (expand-file-name (pop command-line-args-left)) nil t)

(defconst patience 20)
(defconst folder (file-name-as-directory (expand-file-name (pop command-line-args-left))))
(defconst attention (expand-file-name "attention.relay" folder))
(defconst bare (expand-file-name "bare.relay" folder))
(defconst halves (expand-file-name "halves.relay" folder))

(setq native-comp-jit-compilation nil
      make-backup-files nil
      create-lockfiles nil
      eglot-autoshutdown t
      eglot-confirm-server-edits nil)

(defun say (form &rest arguments)
  (princ (concat (apply #'format form arguments) "\n")))

(defun fail (form &rest arguments)
  (apply #'say (concat "FAILED " form) arguments)
  (when-let* ((server (ignore-errors (eglot-current-server))))
    (with-current-buffer (jsonrpc-events-buffer server)
      (say "%s" (buffer-substring (max (point-min) (- (point-max) 4000)) (point-max)))))
  (kill-emacs 1))

(defmacro until (what &rest body)
  "Wait until BODY gives something, and give that."
  (declare (indent 1))
  `(let ((end (+ (float-time) patience)) result)
     (while (and (not (setq result (progn ,@body))) (< (float-time) end))
       (accept-process-output nil 0.02))
     (or result (fail "waited in vain for %s" ,what))))

(defun changed ()
  "Send what was changed: Eglot does so when Emacs is idle, which it never is in a batch."
  (eglot--signal-textDocument/didChange))

(defun same (found wanted what)
  (unless (equal found wanted)
    (fail "%s: wanted %S, found %S" what wanted found)))

(defun go (line text &optional end)
  "Put point on TEXT in the first line that has LINE, or after it with END."
  (goto-char (point-min))
  (search-forward line)
  (beginning-of-line)
  (search-forward text (line-end-position))
  (unless end (goto-char (match-beginning 0))))

(defun visit (file)
  ;; Eglot sends no requests for buffers without a window.
  (switch-to-buffer (find-file-noselect file))
  (same major-mode 'relay-mode "the mode")
  ;; Eglot and Flymake start after a command, but a batch has none.
  (run-hooks 'post-command-hook)
  (until "a server" (eglot-managed-p))
  (run-hooks 'post-command-hook))

(defun errors ()
  (seq-filter (lambda (found) (eq (flymake-diagnostic-type found) 'eglot-error))
              (flymake-diagnostics)))

(defun hover ()
  "What ElDoc shows at point."
  (let (text)
    (eglot-hover-eldoc-function (lambda (found &rest _) (setq text (or found 'nothing))))
    (substring-no-properties (until "a hover" text))))

;;; The mode compiles without a warning

(let* ((byte-compile-error-on-warn t)
       (byte-compile-dest-file-function (lambda (_) (expand-file-name "relay-mode.elc" folder))))
  (unless (byte-compile-file (locate-library "relay-mode.el"))
    (fail "relay-mode.el does not compile")))

;;; Opens, finds the broken shape

(copy-file (getenv "RELAY_TEST_FILE") attention)
(say "emacs %s" emacs-version)
(visit attention)
(same (plist-get (eglot--server-info (eglot-current-server)) :name) "relay-analyzer" "the server")
(let* ((found (until "an error" (car (errors))))
       (text (flymake-diagnostic-text found)))
  (same (buffer-substring (flymake-diagnostic-beg found) (flymake-diagnostic-end found))
        "%keys" "the place of the error")
  (unless (string-search "`nn.batch_matmul`: `tensor_a` has 64 features, but `tensor_b` expects 128" text)
    (fail "the text of the error is %s" text))
  (unless (string-search "shape-mismatch" text)
    (fail "the code of the error is not in %s" text))
  (say "diagnostic %s" (car (split-string text "\n"))))

;;; Colours

(font-lock-ensure)
(go "let %scores" "nn.batch")
(same (get-text-property (point) 'face) 'font-lock-builtin-face "the colour of an operator")
(go "let %scores" "%queries")
(same (get-text-property (point) 'face) 'font-lock-variable-use-face "the colour of a variable")
(go "def @" "@attention")
(same (get-text-property (point) 'face) 'font-lock-function-name-face "the colour of a function")
(go "// Attention" "with")
(same (get-text-property (point) 'face) 'font-lock-comment-face "the colour of a comment")
(say "colours")

;;; Hover: plain text without a Markdown package

(go "let %scores" "%queries")
(let ((text (hover)))
  (same (car (split-string text "\n")) "%queries: Tensor[(12, 128, 64), float32]" "the hover")
  (when (string-search "```" text) (fail "the hover has fences: %s" text))
  (say "hover %s" (car (split-string text "\n"))))

;;; Jumps

(go "let %scores" "%queries")
(call-interactively #'xref-find-definitions)
(same (line-number-at-pos) 9 "the line of the definition")
(say "definition")

;;; Diagnostics follow the text

(go "let %keys" "1, 2, 0")
(replace-match "1, 0, 2")
(changed)
(until "no error" (null (errors)))
(go "let %keys" "1, 0, 2")
(replace-match "1, 2, 0")
(changed)
(until "an error" (errors))
(say "diagnostics follow the text")

;;; Completion

(go "let %v =" "nn.dense(%flat, %wv, units=768)")
(replace-match "nn.batch_m")
(go "let %v =" "nn.batch_m" t)
(completion-at-point)
(same (buffer-substring (line-beginning-position) (point)) "  let %v = nn.batch_matmul"
      "the completed text")
(say "completion")
(set-buffer-modified-p nil)
(kill-buffer)

;;; Rename and format

(with-temp-file halves
  (insert "#[version = \"0.0.5\"]\ndef @half(%n: int32)->int32 {\n%n / 2 }\n"
          "def @main(%n: int32) -> int32 {\n  /* 🚀 */ let %m=@half(%n);\n  %m + 1\n}\n"))
(visit halves)
(go "let %m" "@half")
(eglot-rename "@halved")
(go "let %m" "let")
(same (buffer-substring (point) (line-end-position)) "let %m=@halved(%n);" "the call")
(go "def @halved" "def")
(same (buffer-substring (point) (line-end-position)) "def @halved(%n: int32)->int32 {" "the function")
(say "rename")
(eglot-format-buffer)
(same (buffer-string)
      (concat "#[version = \"0.0.5\"]\ndef @halved(%n: int32) -> int32 {\n  %n / 2\n}\n\n"
              "def @main(%n: int32) -> int32 {\n  /* 🚀 */\n  let %m = @halved(%n);\n  %m + 1\n}\n")
      "the formatted text")
(say "format")

;;; Indentation, without the server

(let ((text (buffer-string)))
  (indent-rigidly (point-min) (point-max) -9)
  (indent-region (point-min) (point-max))
  (same (buffer-string) text "the indented text"))
(say "indentation")

;;; Runs the function at point

(defun result ()
  (let ((buffer (get-buffer "*Relay run*")))
    (if buffer (with-current-buffer buffer (buffer-string)) "")))
(defun run-at (line text wanted &optional arguments)
  (when (get-buffer "*Relay run*") (kill-buffer "*Relay run*"))
  (go line text)
  (relay-run arguments)
  (until (format "a result with %s" wanted) (string-search wanted (result)))
  (say "run %s" (car (split-string (result) "\n"))))
(save-buffer)
(changed)
(same (key-binding (kbd "C-c C-c")) 'relay-run "the key")
(run-at "  %m + 1" "+" "42 (int32)" "n=82")
;; Input is stored per function.
(run-at "  %m + 1" "+" "42 (int32)")
(run-at "def @halved" "@halved" "4 (int32)" "%n=9 seed=1")
(same (buffer-local-value 'major-mode (get-buffer "*Relay run*")) 'special-mode "the mode of a result")
(same (relay--run-arguments "x=[1,2] a.npz w.params n=1.5 seed=3 %input.1=image.npy")
      '(:inputs (:x [1 2] :n 1.5 :input.1 "image.npy") :archives ["a.npz"] :params ["w.params"]
        :seed 3 :remember t)
      "arguments")
;; A failed run reports the reason.
(run-at "def @halved" "@halved" "error[" "n=nowhere.npy")

;;; Settings reach the server

(set-buffer-modified-p nil)
(kill-buffer)
(setq-default eglot-workspace-configuration '(:relay (:tvm t)))
(with-temp-file bare (insert "def @main(%x: int32) -> int32 { %x }\n"))
(visit bare)
(let ((text (flymake-diagnostic-text (until "an error" (car (errors))))))
  (unless (string-search "tvm-version" text) (fail "with the setting `tvm', the error is %s" text)))
(say "settings")

(set-buffer-modified-p nil)
;; The server ends with the last buffer.
(let ((server (eglot-current-server)))
  (kill-buffer)
  (until "the server's end" (not (jsonrpc-running-p server))))
(say "OK")
