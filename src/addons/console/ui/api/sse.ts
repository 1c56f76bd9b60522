export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

const MAX_EVENT = 4 * 1024 * 1024;

/** Server-sent events of a body, as they arrive. A comment is an event without a name: it shows that the server is there. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      for (const block of blocks) yield parseEvent(block);
      if (rest.length > MAX_EVENT) throw new Error('An event of the stream is too large.');
      if (done) return;
    }
  } finally {
    // A reader that stops early ends the call.
    await reader.cancel().catch(() => {});
  }
}

export function parseEvent(block: string): ServerEvent {
  let event = '';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ''] = /^(event|data|id): ?(.*)$/.exec(line) ?? [];
    if (name === 'event') event = value;
    if (name === 'data') data.push(value);
    if (name === 'id') id = value;
  }
  return {
    event: event === '' && data.length > 0 ? 'message' : event,
    data: data.join('\n'),
    ...(id !== undefined && { id }),
  };
}
