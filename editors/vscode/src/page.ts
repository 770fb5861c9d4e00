// The pages that the extension shows in views and panels.

import * as vscode from "vscode";

import type { Page } from "./pages.js";

const mediaOf = (extension: vscode.Uri) => vscode.Uri.joinPath(extension, "media");

/** Shows a page, which may load only its own styles and scripts. */
export function showPage(webview: vscode.Webview, extension: vscode.Uri, { title, styles, scripts, body }: Page): void {
  const media = mediaOf(extension);
  const local = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
  const source = webview.cspSource;
  webview.options = { enableScripts: true, localResourceRoots: [media] };
  webview.html = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${source}; script-src ${source}; worker-src blob:">
${styles.map((name) => `  <link rel="stylesheet" href="${local(name)}">`).join("\n")}
  <title>${title}</title>
</head>
<body>
${body}
${scripts.map((name) => `  <script src="${local(name)}"></script>`).join("\n")}
</body>
</html>`;
}

/** Creates a panel beside the editor, which keeps the focus. */
export function panelBeside(type: string, extension: vscode.Uri, page: Page): vscode.WebviewPanel {
  const panel = vscode.window.createWebviewPanel(type, page.title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
  return furnished(panel, extension, page);
}

/** Shows a page in panels that VS Code restores after a reload, and passes each on with the state of its page. */
export function restored(
  type: string,
  extension: vscode.Uri,
  page: Page,
  adopt: (panel: vscode.WebviewPanel, state: unknown) => unknown,
): vscode.Disposable {
  return vscode.window.registerWebviewPanelSerializer(type, {
    deserializeWebviewPanel: async (panel, state: unknown) => {
      await adopt(panel, state);
      furnished(panel, extension, page);
    },
  });
}

function furnished(panel: vscode.WebviewPanel, extension: vscode.Uri, page: Page): vscode.WebviewPanel {
  panel.iconPath = vscode.Uri.joinPath(mediaOf(extension), "relay.svg");
  showPage(panel.webview, extension, page);
  return panel;
}
