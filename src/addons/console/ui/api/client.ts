import type { ProblemAnswer } from './shapes.ts';
import { half, signedIn } from './session.ts';
import type { Api } from './types.generated.ts';

import createClient from 'openapi-fetch';

/** Below the page's own folder: the same under any prefix. */
const API = new URL('../admin/v1', location.href.replace(/[?#].*$/, '')).href;

/** A refusal of the API, or no answer. */
export class ApiRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;
  readonly errors: NonNullable<ProblemAnswer['errors']>;

  constructor({ status, code, detail, errors = [] }: Pick<ProblemAnswer, 'status' | 'code' | 'detail' | 'errors'>) {
    super(detail);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

const noAnswer = (): ApiRefusal =>
  new ApiRefusal({ status: 0, code: 'no_answer', detail: 'The gateway does not answer. It may be restarting.' });

/** One call. Without a valid session it waits until the person has signed in over the page, and is sent again. */
export async function send(request: Request): Promise<Response> {
  for (;;) {
    const copy = request.clone();
    const second = half();
    if (second !== null) copy.headers.set('x-gatehouse-csrf', second);
    // oxlint-disable-next-line no-restricted-globals -- a browser has no other way to call
    const response = await fetch(copy).catch((error: unknown) => {
      throw request.signal.aborted ? error : noAnswer();
    });
    if (response.status !== 401 || new URL(request.url).pathname.endsWith('/session')) return response;
    await signedIn(request.signal);
  }
}

export const api = createClient<Api.Document['paths']>({ baseUrl: API, fetch: send });

interface Answered<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The answer of a call, or its refusal thrown. */
export async function ask<Data>(call: Promise<Answered<Data>>): Promise<Data> {
  const { data, error, response } = await call;
  if (response.ok) return data as Data;
  throw refusalOf(error, response.status);
}

export function refusalOf(error: unknown, status: number): ApiRefusal {
  const {
    code = 'error',
    detail = `The gateway answered ${status}.`,
    errors = [],
  } = Object(error) as Partial<ProblemAnswer>;
  return new ApiRefusal({ status, code, detail, errors });
}

/** A call whose answer is read piece by piece. */
export async function stream(
  path: string,
  {
    body,
    headers = {},
    signal,
    query = '',
  }: {
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
    readonly signal?: AbortSignal;
    readonly query?: string;
  },
): Promise<Response> {
  const request = new Request(`${API}${path}${query === '' ? '' : `?${query}`}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  return send(request);
}

export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
}

const LIMIT = 1000;
export const MAX_ITEMS = 10_000;

/** All items of a list, at most 10,000. */
export async function allOf<Item>(
  read: (query: { readonly limit: number; readonly cursor?: string }) => Promise<ListPage<Item>>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  while (items.length < MAX_ITEMS) {
    const found = await read({ limit: LIMIT, ...(cursor !== undefined && { cursor }) });
    items.push(...found.items);
    cursor = found.next;
    if (cursor === undefined) break;
  }
  return items;
}
