import { KEY } from '../support/gateway.ts';

/** One request of each client API, whose text is `secret`. */
export interface ClientApi {
  readonly name: string;
  readonly path: (model: string, stream: boolean) => string;
  readonly body: (model: string, stream: boolean) => object;
  /** Path to the text in the body. */
  readonly text: readonly (string | number)[];
}

const messages = (model: string, stream: boolean) => ({
  model,
  stream,
  max_tokens: 50,
  messages: [{ role: 'user', content: 'secret' }],
});
const contents = () => ({ contents: [{ role: 'user', parts: [{ text: 'secret' }] }] });
const GEMINI_TEXT = ['contents', 0, 'parts', 0, 'text'];
const streamGemini = (model: string) => `/v1beta/models/${model}:streamGenerateContent`;

export const CLIENT_APIS: readonly ClientApi[] = [
  { name: 'chat', path: () => '/v1/chat/completions', body: messages, text: ['messages', 0, 'content'] },
  { name: 'messages', path: () => '/v1/messages', body: messages, text: ['messages', 0, 'content'] },
  {
    name: 'responses',
    path: () => '/v1/responses',
    body: (model, stream) => ({ model, stream, store: false, input: [{ role: 'user', content: 'secret' }] }),
    text: ['input', 0, 'content'],
  },
  {
    name: 'gemini',
    path: (model, stream) => (stream ? `${streamGemini(model)}?alt=sse` : `/v1beta/models/${model}:generateContent`),
    body: contents,
    text: GEMINI_TEXT,
  },
];

/** Gemini's stream as one JSON array. */
export const GEMINI_ARRAY: ClientApi = { name: 'gemini array', path: streamGemini, body: contents, text: GEMINI_TEXT };

export const TARGETS = ['@openai/m', '@claude/claude-sonnet-4-5', '@gemini/gemini-2.5-flash'] as const;

export const send = (
  url: string,
  api: ClientApi,
  model: string,
  { stream = false, headers = {} }: { readonly stream?: boolean; readonly headers?: Record<string, string> } = {},
): Promise<Response> =>
  fetch(`${url}${api.path(model, stream)}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      'x-gateway-api-key': KEY,
      ...headers,
    },
    body: JSON.stringify(api.body(model, stream)),
  });
