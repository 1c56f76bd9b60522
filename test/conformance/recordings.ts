import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { oneInFour } from '../support/effort.ts';
import { KEY, startTestGateway, type TestGateway, type TestSettings } from '../support/gateway.ts';

/** The recorded upstream traffic lies beside the checkout where it is at hand; it is no part of the project. */
export const corpus = join(import.meta.dirname, '../../../shared/corpus');
export const corpusIsThere = existsSync(join(corpus, 'check-shapes.mjs'));

export type Json = Record<string, unknown>;

export interface Recording {
  readonly id: string;
  readonly family: string;
  readonly op: string;
  readonly path: string;
  readonly is_stream: boolean;
  readonly features?: readonly string[];
  readonly request_body_kind: 'json' | 'text' | 'none';
  readonly request_body: Json | null;
  readonly response_status: number;
  readonly response_body_kind: string;
  readonly response_body: unknown;
}

interface Seen {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json | null;
}
interface Replay {
  readonly url: string;
  readonly records: ReadonlyMap<string, Recording>;
  readonly seen: ReadonlyMap<string, readonly Seen[]>;
  close(): Promise<void>;
}

/** What a client got. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Text of a stream; undefined for a plain body. */
  readonly sse: string | undefined;
}

const module = <T>(file: string): Promise<T> => import(pathToFileURL(join(corpus, file)).href) as Promise<T>;

export interface Judges {
  /** What a recording says the model answered. */
  derive(record: Recording): Json & { applicable: boolean };
  checkPassthrough(record: Recording, answer: Answer): { readonly findings: readonly object[] };
  check(record: Recording, answer: Answer, options: object): { readonly findings: readonly { level: string }[] };
}
export const judges = (): Promise<Judges> => module('check-shapes.mjs');

const ENTRIES: Readonly<Record<string, object>> = {
  anthropic: { provider: 'anthropic', api_key: '${env:NONE:-replay-key}' },
  openai: { provider: 'openai', api_key: '${env:NONE:-replay-key}' },
  studio: { provider: 'google-ai-studio', api_key: '${env:NONE:-replay-key}' },
  // Some recordings continue responses of their account.
  responses: { provider: 'openai', api: 'responses', unknown_ids: 'pass', api_key: '${env:NONE:-replay-key}' },
  vertex: { provider: 'vertex-ai', project_id: 'test-project', region: 'us-central1' },
};

/** Where a family's recordings are served from, and how a recording is named as a model there. */
const PLACES: Readonly<Record<string, (id: string) => string>> = {
  anthropic: (id) => `@anthropic/replay--${id}`,
  'vertex-anthropic': (id) => `@vertex/anthropic.replay--${id}`,
  gemini: (id) => `@vertex/replay--${id}`,
  'vertex-gemini': (id) => `@vertex/replay--${id}`,
  openai: (id) => `@openai/replay--${id}`,
  'openai-responses': (id) => `@responses/replay--${id}`,
};

export const modelOf = ({ family, id }: Pick<Recording, 'family' | 'id'>): string =>
  (PLACES[family] ?? PLACES[family.split('-')[0]!]!)(id);

/** The upstream refuses the key of the catalog entry: no caller can mend that, so none is blamed for it. */
export const refusesOwnKey = ({ family, response_status: status }: Pick<Recording, 'family' | 'response_status'>) =>
  status === 401 && /^(?:anthropic|openai)/.test(family);

/** Nothing where such a refusal came as the gateway's own 502, without the upstream's words: vendors quote parts of the key. */
export function ownKeyFindings({ id }: Pick<Recording, 'id'>, { status, body }: Pick<Answer, 'status' | 'body'>) {
  const reported = JSON.stringify(body ?? null);
  const isRight = status === 502 && reported.includes('upstream_credentials_refused') && !reported.includes('sk-');
  return isRight ? [] : [{ id, rule: 'own key refused', expected: 502, actual: { status, body } }];
}

/** A gateway before a server that answers with the recordings of a family, cut at any byte. */
export class ReplayedFamily {
  readonly records: readonly Recording[];
  readonly #replay: Replay;
  readonly #gateway: TestGateway;

  private constructor(replay: Replay, gateway: TestGateway) {
    this.#replay = replay;
    this.#gateway = gateway;
    this.records = [...replay.records.values()];
  }

  /** @param wire how the replies are cut and ended, in the replay server's words */
  static async open(
    family: string,
    wire: object = { split: 'bytes', maxChunk: 16 },
    settings: Pick<TestSettings, 'server' | 'gateway'> = {},
  ): Promise<ReplayedFamily> {
    const { startReplay } = await module<{ startReplay(options: object): Promise<Replay> }>('replay-upstream.mjs');
    const replay = await startReplay({ files: [join(corpus, 'dev', `${family}.jsonl`)], ...wire });
    const providers = Object.entries(ENTRIES).map(([slug, entry]) => ({
      slug,
      base_url: slug === 'openai' || slug === 'responses' ? `${replay.url}/v1` : replay.url,
      allow_insecure: true,
      ...entry,
    }));
    return new ReplayedFamily(replay, await startTestGateway({ ...settings, catalog: { providers } }));
  }

  async ask(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const reply = await this.fetch(path, body, headers);
    const text = await reply.text();
    const isStream = reply.headers.get('content-type')?.includes('event-stream') === true;
    return {
      status: reply.status,
      ...(isStream ? { sse: text, body: undefined } : { sse: undefined, body: JSON.parse(text) }),
    };
  }

  fetch(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(this.#gateway.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gateway-api-key': KEY,
        authorization: 'Bearer caller-token',
        ...headers,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(240_000),
    });
  }

  /** The body the upstream was sent last for a recording. */
  sent(id: string): Json | null | undefined {
    return this.#replay.seen.get(id)?.at(-1)?.body;
  }

  async close(): Promise<void> {
    await this.#gateway.close();
    await this.#replay.close();
  }
}

/** Runs `work` for all (one in four outside of the full run), eight at a time, and gives what it found, in order. */
export async function forAll<T, R>(items: readonly T[], work: (item: T) => Promise<readonly R[]>): Promise<R[]> {
  const found: (readonly R[])[] = [];
  const open = oneInFour('conformance', 0, items).entries();
  const one = async (): Promise<void> => {
    for (const [index, item] of open) found[index] = await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, one));
  return found.flat();
}
