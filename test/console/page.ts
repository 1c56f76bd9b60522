import { createReadStream, existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { CONTENT_POLICY } from './policy.ts';

const FOLDER = join(import.meta.dirname, '../../dist/console');
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
};

/** An answer of the API as a test has it: a value for 200, a status with a problem, or a function that writes. */
export type Recorded = object | number | ((request: Asked, response: ServerResponse, query: URLSearchParams) => void);

/** A call with its body. */
export type Asked = IncomingMessage & { readonly sent: string };

export interface RecordedPage {
  /** The address of the page. */
  readonly url: string;
  /** The calls that came, `GET /requests?limit=200`. */
  readonly calls: string[];
  answers: Readonly<Record<string, Recorded>>;
  readonly bodies: string[];
  close(): Promise<void>;
}

/** The page over answers that a test names, `GET /requests` → a value. */
export async function serveRecorded(answers: Record<string, Recorded>, prefix = ''): Promise<RecordedPage> {
  const [calls, bodies]: [string[], string[]] = [[], []];
  const server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    if (pathname.startsWith(`${prefix}/ui/`)) return sendFile(pathname.slice(`${prefix}/ui/`.length), response);
    const path = pathname.slice(`${prefix}/admin/v1`.length);
    calls.push(`${request.method} ${path}${searchParams.size === 0 ? '' : `?${searchParams}`}`);
    const texts: string[] = [];
    request.setEncoding('utf8').on('data', (text: string) => texts.push(text));
    request.on('end', () => {
      if (texts.length > 0) bodies.push(texts.join(''));
      const asked = Object.assign(request, { sent: texts.join('') });
      answer(page.answers[`${request.method} ${path}`], { request: asked, response, query: searchParams });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const page: RecordedPage = {
    url: `http://127.0.0.1:${port}${prefix}/ui/`,
    calls,
    bodies,
    answers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return page;
}

function answer(
  recorded: Recorded | undefined,
  {
    request,
    response,
    query,
  }: { readonly request: Asked; readonly response: ServerResponse; readonly query: URLSearchParams },
): void {
  if (typeof recorded === 'function') return recorded(request, response, query);
  const status = recorded === undefined ? 404 : typeof recorded === 'number' ? recorded : 200;
  const body =
    typeof recorded === 'object'
      ? recorded
      : {
          type: 'x',
          title: 'x',
          status,
          code: PROBLEMS[status] ?? 'error',
          detail: `The test has no answer (${status}).`,
        };
  response
    .writeHead(status, { 'content-type': status === 200 ? 'application/json' : 'application/problem+json' })
    .end(JSON.stringify(body));
}

const PROBLEMS: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  503: 'busy',
};

function sendFile(name: string, response: ServerResponse): void {
  const file = join(FOLDER, name === '' ? 'index.html' : name);
  if (name.includes('..') || !existsSync(file)) return void response.writeHead(404).end();
  response.writeHead(200, {
    'content-type': TYPES[file.split('.').at(-1) ?? ''] ?? 'text/plain',
    'content-security-policy': CONTENT_POLICY,
    'x-content-type-options': 'nosniff',
  });
  createReadStream(file).pipe(response);
}

/** An open stream with these events, which ends with the test. */
export const streamOf =
  (events: readonly { readonly event: string; readonly data: unknown; readonly id?: string }[] = []): Recorded =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': open\n\n');
    for (const { event, data, id } of events)
      response.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
  };
