import { describe, expect, it } from 'vitest';
import { asImageEvents } from './openai-image-events.ts';
import { readSse } from '../sse/event-stream.ts';

const eventsOf = (note: string) => {
  const data = Array.from({ length: 3 }, (_, at) => ({ b64_json: `image ${at}` }));
  const text = asImageEvents({ created: 1, data, note, usage: { input_tokens: 1 } });
  return readSse(Buffer.from(text)).map((event) => JSON.parse(event.data) as { note?: string });
};

describe('A whole reply as a stream of images', () => {
  it('repeats its other fields in each event', () => {
    expect(eventsOf('short').map(({ note }) => note)).toEqual(['short', 'short', 'short']);
  });

  it('has long fields in the first event only', () => {
    const long = 'a'.repeat(5000);
    expect(eventsOf(long).map(({ note }) => note)).toEqual([long, undefined, undefined]);
  });
});
