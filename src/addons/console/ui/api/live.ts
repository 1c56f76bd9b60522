import { signal } from '@preact/signals';
import { stream } from './client.ts';
import { session } from './session.ts';
import type { ListedRequest } from './shapes.ts';
import { readEvents, type ServerEvent } from './sse.ts';

/** One stream for all tabs of a browser: its connections to one host are few, and each stream has one for itself. */

const CHANNEL = 'gatehouse-live';
/** The gateway sends a comment every 10 s. */
const SILENCE_MS = 25_000;
const MAX_WAIT_MS = 30_000;

export type LiveState =
  | { readonly is: 'off' }
  | { readonly is: 'live' }
  | { readonly is: 'lost'; readonly since: number; readonly retryAt: number };

type Message =
  | { readonly kind: 'lines'; readonly lines: readonly ListedRequest[] }
  | { readonly kind: 'gap'; readonly missed: number }
  | { readonly kind: 'settings' }
  | { readonly kind: 'boot'; readonly id: string }
  | { readonly kind: 'state'; readonly state: LiveState }
  | { readonly kind: 'hello' };

export const live = signal<LiveState>({ is: 'off' });
/** Requests that the stream left out since they were last shown. */
export const missed = signal(0);
/** Grows when settings take effect or are refused. */
export const settingsTurn = signal(0);
/** The process whose records the page shows. */
export const boot = signal<string | undefined>(undefined);

const listeners = new Set<(lines: readonly ListedRequest[]) => void>();

export function onLines(listener: (lines: readonly ListedRequest[]) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

let channel: BroadcastChannel | undefined;
let started = false;

/** Starts once the page knows that it may call. */
export function startLive(): void {
  if (started) return;
  started = true;
  channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'hello') {
      if (isLeader) channel?.postMessage({ kind: 'state', state: live.value } satisfies Message);
    } else take(data);
  });
  channel.postMessage({ kind: 'hello' } satisfies Message);
  // The lock is free again when its tab closes: another tab takes the stream over.
  if ('locks' in navigator) void navigator.locks.request(CHANNEL, () => lead());
  else void lead();
}

let isLeader = false;

function tell(message: Message): void {
  take(message);
  channel?.postMessage(message);
}

function take(message: Message): void {
  switch (message.kind) {
    case 'lines':
      for (const listener of listeners) listener(message.lines);
      break;
    case 'gap':
      missed.value += message.missed;
      break;
    case 'settings':
      settingsTurn.value += 1;
      break;
    case 'boot':
      if (message.id !== (boot.value ?? session.value?.boot_id)) settingsTurn.value += 1;
      boot.value = message.id;
      break;
    case 'state':
      live.value = message.state;
      break;
    default:
  }
}

async function lead(): Promise<never> {
  isLeader = true;
  let last: string | undefined;
  let since = 0;
  for (let failures = 0; ; failures += 1) {
    const opened = await follow(last, (id) => {
      last = id;
      failures = 0;
      since = 0;
    });
    if (opened) failures = 0;
    since ||= Date.now();
    const wait = Math.min(MAX_WAIT_MS, 1000 * 2 ** Math.min(failures, 5));
    tell({ kind: 'state', state: { is: 'lost', since, retryAt: Date.now() + wait } });
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** Reads the stream until it ends. True: it had been open. */
async function follow(last: string | undefined, seen: (id: string) => void): Promise<boolean> {
  const ending = new AbortController();
  let silence = setTimeout(() => ending.abort(), SILENCE_MS);
  let opened = false;
  const collected = collector();
  try {
    const response = await stream('/stream', {
      headers: { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) },
      signal: ending.signal,
    });
    if (!response.ok || !response.body) return false;
    opened = true;
    tell({ kind: 'state', state: { is: 'live' } });
    for await (const event of readEvents(response.body)) {
      clearTimeout(silence);
      silence = setTimeout(() => ending.abort(), SILENCE_MS);
      if (event.id !== undefined) seen(event.id);
      collected.take(event);
    }
  } catch {
    // A cut stream is opened again.
  } finally {
    clearTimeout(silence);
    collected.flush();
  }
  return opened;
}

let settings: string | undefined;

/** Each stream begins with the settings in force: they are news if they are others than the page knows. */
function isNews(data: string): boolean {
  const before = settings;
  settings = data;
  const { hash, ok } = JSON.parse(data) as { readonly hash: string; readonly ok: boolean };
  return before === undefined ? !ok || hash !== session.value?.settings_hash : before !== data;
}

/** Lines are passed on ten times a second, not one by one. */
function collector() {
  let lines: ListedRequest[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length > 0) tell({ kind: 'lines', lines });
    lines = [];
  };
  const take = ({ event, data }: ServerEvent): void => {
    if (event === 'line') {
      lines.push(JSON.parse(data) as ListedRequest);
      timer ??= setTimeout(flush, 100);
    }
    if (event === 'gap') tell({ kind: 'gap', missed: (JSON.parse(data) as { missed: number }).missed });
    if (event === 'settings' && isNews(data)) tell({ kind: 'settings' });
    if (event === 'boot') tell({ kind: 'boot', id: (JSON.parse(data) as { boot_id: string }).boot_id });
  };
  return { take, flush };
}
