import { request, type IncomingMessage } from 'node:http';

export interface LiveEvent {
  readonly id: string | undefined;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read events of all shapes
  readonly data: any;
}

/** A stream of events, read by a test. */
export interface LiveStream {
  readonly status: number;
  readonly events: readonly LiveEvent[];
  /** Resolves with the first event that fits, also an earlier one. */
  find(fits: (event: LiveEvent) => boolean): Promise<LiveEvent>;
  readonly ended: Promise<void>;
  close(): void;
}

export function openStream(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  { method = 'GET', body }: { readonly method?: string; readonly body?: object } = {},
): Promise<LiveStream> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers: { 'content-type': 'application/json', ...headers }, agent: false });
    call.once('response', (reply) => resolve(streamOf(reply, () => call.destroy())));
    call.once('error', reject).end(body && JSON.stringify(body));
  });
}

function streamOf(reply: IncomingMessage, close: () => void): LiveStream {
  const events: LiveEvent[] = [];
  const waiting = new Set<() => void>();
  let text = '';
  reply.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    const whole = text.split('\n\n');
    text = whole.pop() ?? '';
    events.push(...whole.flatMap(eventOf));
    for (const look of waiting) look();
  });
  const ended = new Promise<void>((resolve) => void reply.once('close', () => resolve()));
  reply.once('error', () => {});
  return {
    status: reply.statusCode ?? 0,
    events,
    ended,
    close,
    find: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = events.find(fits);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

function eventOf(block: string): LiveEvent[] {
  const fields = Object.fromEntries(
    block.split('\n').flatMap((line) => {
      const at = line.indexOf(': ');
      return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 2)]];
    }),
  );
  if (fields['event'] === undefined) return [];
  return [{ id: fields['id'], event: fields['event'], data: JSON.parse(fields['data'] ?? 'null') as unknown }];
}
