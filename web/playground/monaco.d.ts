// Monaco's client for language servers, which `monaco-editor` exports only together with all its languages.
declare module "*/monaco-lsp-client/out/index.js" {
  export interface Transport {
    dispose(): void;
  }
  export function createTransportToWorker(worker: Worker): Transport;
  export class MonacoLspClient {
    constructor(transport: Transport);
  }
}
