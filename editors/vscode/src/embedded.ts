// Relay within Python and Markdown: the server finds it, and answers about nothing else there.

import * as vscode from "vscode";
import type { BaseLanguageClient, DocumentSelector, ServerCapabilities, StaticFeature } from "vscode-languageclient";

const RELAY = [{ language: "relay" }];
const HOSTS: ReadonlySet<string> = new Set(["python", "markdown"]);

/** Calls that take Relay, a module's begin, and the magic of notebooks. The server looks closer. */
const IN_PYTHON = /\b(?:fromtext|parse_expr|(?:relay|parser)\.parse)\s*\(|#\[version\b|^%%relay\b/m;
const IN_MARKDOWN = /^[ \t>*+\-\d.)]*(?:`{3,}|~{3,})[ \t]*\{?\.?relay\b/im;

const isWanted = () => vscode.workspace.getConfiguration("relay").get<boolean>("embedded.enabled", true);

/** Whether a document of another language may hold Relay. */
export function hasEmbedded({ languageId, getText }: vscode.TextDocument): boolean {
  if (!HOSTS.has(languageId) || !isWanted()) {
    return false;
  }
  return (languageId === "python" ? IN_PYTHON : IN_MARKDOWN).test(getText());
}

/** The documents that the server is told of. No scheme: dumps live in untitled documents, in diffs and in the history of git as well. */
export function selector(): { language: string }[] {
  return isWanted() ? [...RELAY, ...[...HOSTS].map((language) => ({ language }))] : RELAY;
}

/**
 * What the server does for whole documents, by the method with which it is registered. In Python and Markdown other
 * extensions do it; a second formatter would make VS Code ask which one to use.
 */
const OF_WHOLE_DOCUMENTS = {
  documentSymbolProvider: "textDocument/documentSymbol",
  documentFormattingProvider: "textDocument/formatting",
  documentRangeFormattingProvider: "textDocument/rangeFormatting",
  documentOnTypeFormattingProvider: "textDocument/onTypeFormatting",
  documentLinkProvider: "textDocument/documentLink",
  linkedEditingRangeProvider: "textDocument/linkedEditingRange",
  semanticTokensProvider: "textDocument/semanticTokens",
  foldingRangeProvider: "textDocument/foldingRange",
  selectionRangeProvider: "textDocument/selectionRange",
  callHierarchyProvider: "textDocument/prepareCallHierarchy",
  codeLensProvider: "textDocument/codeLens",
} as const;

/** Registers those for documents of Relay only. */
export function onlyInRelay(client: BaseLanguageClient): StaticFeature {
  const withheld: { method: string; options: object }[] = [];
  return {
    preInitialize: (capabilities: ServerCapabilities) => {
      for (const [name, method] of Object.entries(OF_WHOLE_DOCUMENTS)) {
        const provider = capabilities[name as keyof typeof OF_WHOLE_DOCUMENTS];
        if (provider) {
          withheld.push({ method, options: provider === true ? {} : provider });
          delete capabilities[name as keyof typeof OF_WHOLE_DOCUMENTS];
        }
      }
    },
    initialize: () => {
      for (const { method, options } of withheld.splice(0)) {
        const feature = client.getFeature(method as "textDocument/formatting");
        const documentSelector: DocumentSelector = RELAY;
        feature?.register({ id: crypto.randomUUID(), registerOptions: { ...options, documentSelector } });
      }
    },
    fillClientCapabilities: () => undefined,
    getState: () => ({ kind: "static" }),
    clear: () => undefined,
  };
}
