import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LedgerRow } from '../../src/core/ports/ledger.ts';

/** The columns of a row that are compared with the bill. */
export type BilledRow = Pick<LedgerRow, 'req' | 'att' | 'kind' | 'src' | 'asked' | 'nano'>;

export interface BudgetAnswer {
  readonly spent: number;
  readonly leased: number;
  readonly unreconciled: number;
}

const DAY_MS = 86_400_000;

/** Reads the admin API of a gateway, with a token that outlives its processes. */
export class AdminReader {
  readonly #url: string;
  readonly #folder: string;
  #token: string | undefined;

  /** @param folder of the state store */
  constructor(url: string, folder: string) {
    this.#url = url;
    this.#folder = folder;
  }

  /** Sums by source and kind, such as `told try`. */
  async sums(): Promise<ReadonlyMap<string, number>> {
    const { items } = (await (await this.#get('/usage?step=all&by=src,kind&limit=200')).json()) as {
      readonly items: readonly { readonly src: string; readonly kind: string; readonly nano: number }[];
    };
    return new Map(items.map(({ src, kind, nano }) => [`${src} ${kind}`, nano]));
  }

  /** All rows of the ledger. */
  async rows(): Promise<readonly BilledRow[]> {
    const text = await (await this.#get('/ledger?format=jsonl')).text();
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as BilledRow);
  }

  /** In the order of their keys. */
  async budgets(): Promise<readonly BudgetAnswer[]> {
    return ((await (await this.#get('/budgets')).json()) as { readonly items: readonly BudgetAnswer[] }).items;
  }

  async #get(path: string): Promise<Response> {
    this.#token ??= await this.#create();
    const now = Date.now();
    const span = `from=${new Date(now - 2 * DAY_MS).toISOString()}&to=${new Date(now + DAY_MS).toISOString()}`;
    return this.#send(path.includes('?') ? `${path}&${span}` : path, this.#token);
  }

  /** With the bootstrap token, for which the store has no other yet. */
  async #create(): Promise<string> {
    const bootstrap = readFileSync(join(this.#folder, 'bootstrap-token'), 'utf8').trim();
    const reply = await this.#send('/tokens', bootstrap, { id: 'money', role: 'admin' });
    return ((await reply.json()) as { readonly token: string }).token;
  }

  async #send(path: string, token: string, body?: object): Promise<Response> {
    const reply = await fetch(`${this.#url}/admin/v1${path}`, {
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return reply;
  }
}
