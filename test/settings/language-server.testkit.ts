import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly uri?: string;
    readonly items?: readonly unknown[];
    readonly diagnostics?: readonly {
      readonly message: string;
      readonly range: { readonly start: { readonly line: number } };
    }[];
  };
}

/** The YAML language server editors use, over stdio (Language Server Protocol 3.17). */
export class LanguageServer {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<string, (messages: string[]) => void>();
  #unread = Buffer.alloc(0);
  #opened = 0;

  constructor() {
    const bin = require.resolve('yaml-language-server/bin/yaml-language-server');
    this.#process = spawn(process.execPath, [bin, '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#process.stdout!.on('data', (bytes: Buffer) => this.#read(bytes));
  }

  async start(): Promise<void> {
    const ready = new Promise<void>((resolve) => this.#waiting.set('initialize', () => resolve()));
    this.#send({
      id: 1,
      method: 'initialize',
      params: { processId: process.pid, rootUri: null, capabilities: { workspace: { configuration: true } } },
    });
    await ready;
    this.#send({ method: 'initialized', params: {} });
    // The schema store is on the internet; modelines are all we test.
    this.#send({ method: 'workspace/didChangeConfiguration', params: { settings: { yaml: CONFIGURATION } } });
  }

  /** What an editor would underline in a file with this text: `line: message`, lines from 1. The file need not exist. */
  async check(path: string, text: string): Promise<readonly string[]> {
    // Each time another document: diagnostics of one may arrive late, and would be taken for the next one's.
    this.#opened += 1;
    const uri = pathToFileURL(`${path.replace(/\.yaml$/, '')}.${this.#opened}.yaml`).href;
    const reported = new Promise<string[]>((resolve) => this.#waiting.set(uri, resolve));
    this.#send({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri, languageId: 'yaml', version: 1, text } },
    });
    return reported;
  }

  async stop(): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill();
    await gone;
  }

  #send(message: object): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.#process.stdin!.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.#process.stdin!.write(body);
  }

  #read(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    for (;;) {
      const head = this.#unread.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.#unread.toString('latin1', 0, head))?.[1]);
      const end = head + 4 + length;
      if (this.#unread.length < end) return;
      this.#receive(JSON.parse(this.#unread.toString('utf8', head + 4, end)));
      this.#unread = this.#unread.subarray(end);
    }
  }

  #receive({ id, method, params }: Message): void {
    if (method === undefined) return this.#waiting.get('initialize')?.([]);
    if (method === 'textDocument/publishDiagnostics') {
      const messages = (params?.diagnostics ?? []).map(({ range, message }) => `${range.start.line + 1}: ${message}`);
      this.#waiting.get(params?.uri ?? '')?.(messages);
    } else if (id !== undefined) {
      const result = method === 'workspace/configuration' ? (params?.items ?? []).map(() => CONFIGURATION) : null;
      this.#send({ id, result });
    }
  }
}

const CONFIGURATION = { validate: true, schemaStore: { enable: false }, customTags: [], schemas: {} };
