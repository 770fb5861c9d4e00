// The settings that are sent to the server.

import * as vscode from "vscode";

/** The section of all settings. */
const SECTION = "relay";

/** A part of the extension's `package.json`. */
interface Contributions {
  readonly contributes: {
    readonly configuration: readonly { readonly properties: Readonly<Record<string, unknown>> }[];
  };
}

/**
 * The settings that the user has set, by their names without the section. Defaults of the editor are
 * omitted, because the server would prefer them to `relay.toml`.
 */
export function writtenSettings(extension: vscode.Extension<unknown>): Record<string, unknown> {
  const { contributes } = extension.packageJSON as Contributions;
  const settings = vscode.workspace.getConfiguration(SECTION);
  const written: Record<string, unknown> = {};
  for (const key of contributes.configuration.flatMap(({ properties }) => Object.keys(properties))) {
    const name = key.slice(SECTION.length + 1);
    const found = settings.inspect(name);
    const values = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue];
    if (values.some((value) => value !== undefined)) {
      written[name] = settings.get(name);
    }
  }
  return written;
}
