import { KEY, startTestGateway, type TestGateway, type TestSettings } from '../support/gateway.ts';
import {
  entriesFor,
  geminiReply,
  json,
  startUpstream,
  type Script,
  type ScriptedUpstream,
  type SeenRequest,
} from '../support/upstream.ts';

export type Json = Record<string, unknown>;

/** A caller's own Google token, as an entry with nothing but a project asks for. */
export const CALLER_TOKEN = 'ya29.of-the-caller';
export const LAX = { 'x-gateway-strict-open-ai-compliance': 'false' };

export const FLASH = '@gemini/gemini-2.5-flash';
export const GEMINI_3 = '@gemini/gemini-3-flash-preview';
export const CLAUDE = '@claude/claude-sonnet-4-5-20250929';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Json;
  /** `choices[0]` of a plain answer. */
  readonly choice: Json;
  readonly message: Json;
  /** `delta` of every chunk of a stream. */
  readonly deltas: readonly Json[];
}

export interface House {
  readonly upstream: ScriptedUpstream;
  readonly gateway: TestGateway;
  /** What the upstream does from now on. */
  plays(script: Script): void;
  /** Bodies for the next requests, one each; the last one again and again. */
  answers(...replies: readonly object[]): void;
  chat(body: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** The last request that reached the upstream. */
  seen(): SeenRequest;
  close(): Promise<void>;
}

/** A gateway whose entries `gemini`, `claude` and `openai` are one scripted upstream. */
export async function startHouse(settings: Omit<TestSettings, 'catalog'> = {}): Promise<House> {
  let script: Script = (_, res) => json(res, geminiReply('hi'));
  const upstream = await startUpstream((request, res, index) => script(request, res, index));
  const gateway = await startTestGateway({ catalog: { providers: entriesFor(upstream.url) }, ...settings });
  return {
    upstream,
    gateway,
    plays: (next) => {
      script = next;
    },
    answers: (...replies) => {
      let at = 0;
      script = (_, res) => json(res, replies[Math.min(at++, replies.length - 1)]);
    },
    chat: (body, headers = {}) => chat(gateway.url, body, headers),
    seen: () => upstream.seen.at(-1)!,
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  };
}

async function chat(url: string, body: object, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: `Bearer ${CALLER_TOKEN}`,
      ...headers,
    },
    body: JSON.stringify({ max_tokens: 4000, messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
  const text = await response.text();
  const parsed = text.startsWith('{') ? (JSON.parse(text) as Json) : {};
  const choice = (parsed['choices'] as Json[] | undefined)?.[0] ?? {};
  const chunks = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data!) as { choices: Json[] });
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: parsed,
    choice,
    message: (choice['message'] as Json | undefined) ?? {},
    deltas: chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta as Json)),
  };
}

/** A Gemini reply of these parts. */
export const geminiParts = (...parts: readonly object[]): Json => ({
  ...geminiReply(''),
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
});

export const fn = (name: string, parameters?: object) => ({
  type: 'function',
  function: { name, ...(parameters && { parameters }) },
});

export const user = (content: unknown) => ({ role: 'user', content });
