import { KEY } from './gateway.ts';

interface Form {
  readonly file?: Blob | string;
  readonly filename?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** Uploads a file as OpenAI's clients do. */
export async function upload(gateway: { readonly url: string }, form: Form): Promise<{ status: number; body: Answer }> {
  const data = new FormData();
  for (const [name, value] of Object.entries(form.fields ?? {})) data.set(name, value);
  const { file = '%PDF-1.7\n' } = form;
  data.set('file', typeof file === 'string' ? new Blob([file]) : file, form.filename ?? 'report.pdf');
  const headers = { 'x-gateway-api-key': form.key ?? KEY, ...form.headers };
  const reply = await fetch(`${gateway.url}/v1/files`, { method: 'POST', headers, body: data });
  return { status: reply.status, body: (await reply.json()) as Answer };
}

/** The parts of replies that tests read. */
export interface Answer {
  readonly id: string;
  readonly error?: { readonly code: string; readonly message: string; readonly param: string | null };
  readonly data?: readonly { readonly id: string }[];
  readonly [key: string]: unknown;
}

export async function call(
  gateway: { readonly url: string },
  path: string,
  { method = 'GET', key = KEY }: { readonly method?: string; readonly key?: string } = {},
): Promise<{ status: number; text: string; body: Answer; headers: Headers }> {
  const reply = await fetch(`${gateway.url}/v1/files${path}`, { method, headers: { 'x-gateway-api-key': key } });
  const text = await reply.text();
  return {
    status: reply.status,
    text,
    body: text.startsWith('{') ? (JSON.parse(text) as Answer) : { id: '' },
    headers: reply.headers,
  };
}

/** Sends a chat request with one part besides a text. */
export const ask = (gateway: { readonly url: string }, model: string, part: object): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-gateway-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, part] }] }),
  });
