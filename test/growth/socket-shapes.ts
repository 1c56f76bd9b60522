import { cutInto, deep, escapes, fill, keys, letters, list, longNumbers, wide } from './replies-build.ts';
import { CONTINUATION, frame, PING, TEXT } from './socket-run.ts';

const create = (fields: string): string => `{"type":"response.create","model":"m",${fields}}`;
const input = (items: string): string => create(`"input":${items}`);
const item = (at: number): string => `{"role":"user","content":"${at}"}`;
const tool = (at: number): string => `{"type":"function","name":"f${at}","parameters":{}}`;

/** Texts of one message. */
const MESSAGES: Readonly<Record<string, (bytes: number) => string>> = {
  'many items': (n) => input(list(fill(n, item))),
  'one long text': (n) => input(`"${letters(n)}"`),
  'a text of escapes': (n) => input(escapes(n)),
  'many tools': (n) => create(`"input":"x","tools":${list(fill(n, tool))}`),
  'many keys': (n) => create(`"input":"x",${keys(n)}`),
  'fields that a request does not have': (n) => create(`"input":"x",${fill(n, () => '"stream_options":{}').join(',')}`),
  'deep nesting': (n) => input(deep(n)),
  'deep nesting that is wide': (n) => input(wide(n)),
  'long numbers': (n) => input(longNumbers(n)),
  'white space': (n) => input(`[${' '.repeat(n)}]`),
  'a long id': (n) => create(`"input":"x","previous_response_id":"${letters(n)}"`),
  'a long name of its turn': (n) => create(`"input":"x","stream_id":"${letters(n)}"`),
  'a long type': (n) => `{"type":${escapes(n)}}`,
  'no turn, and many items': (n) => input(list(fill(n, item))).replace('{', '{"generate":false,'),
  'a steer': (n) => `{"type":"response.steer","input":${list(fill(n, item))}}`,
  'text that is no JSON': (n) => letters(n, 'x'),
  quotes: (n) => letters(n, '"'),
  'objects that do not end': (n) => '{"a":'.repeat(n / 5),
  'a text that does not end': (n) => `{"a":"${letters(n, '\\')}`,
};

export interface SocketShape {
  readonly name: string;
  /** The reads in which the frames come. */
  readonly reads: (bytes: number) => readonly Buffer[];
}

const READ = 64 * 1024;
const inReads = (bytes: Buffer, size = READ): readonly Buffer[] => cutInto(bytes, size);

const fragments = (bytes: Buffer, size: number): Buffer => {
  const pieces = cutInto(bytes, size);
  return Buffer.concat(
    pieces.map((piece, at) => frame(at === 0 ? TEXT : CONTINUATION, piece, { fin: at === pieces.length - 1 })),
  );
};

const whole = (n: number): Buffer => Buffer.from(input(list(fill(n, item))));
const many = (n: number, one: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(n / one.length) }, () => one));

/** What a hostile client sends into a WebSocket of the Responses API. */
export const SOCKET_SHAPES: readonly SocketShape[] = [
  ...Object.entries(MESSAGES).map(([name, text]) => ({
    name: `a message with ${name}`,
    reads: (n: number) => inReads(frame(TEXT, text(n))),
  })),
  { name: 'invalid UTF-8', reads: (n) => inReads(frame(TEXT, Buffer.alloc(n, 0xff))) },
  {
    name: 'UTF-8 that ends within a character',
    reads: (n) => inReads(frame(TEXT, Buffer.from('é'.repeat(n / 2)).subarray(0, -1))),
  },
  { name: 'a message in a thousand fragments', reads: (n) => inReads(fragments(whole(n), Math.ceil(n / 900))) },
  { name: 'fragments of one byte', reads: (n) => inReads(fragments(whole(n / 7), 1)) },
  {
    name: 'fragments without bytes',
    reads: (n) => inReads(many(n, frame(CONTINUATION, '', { fin: false })).fill(TEXT, 0, 1)),
  },
  {
    name: 'fragments with pings between',
    reads: (n) => {
      const pieces = cutInto(whole(n / 2), Math.ceil(n / 1000));
      const pings = many(n / 2 / pieces.length, frame(PING, 'x'));
      return inReads(
        Buffer.concat([
          frame(TEXT, '', { fin: false }),
          ...pieces.flatMap((piece) => [pings, frame(CONTINUATION, piece, { fin: false })]),
          frame(CONTINUATION, ''),
        ]),
      );
    },
  },
  { name: 'pings', reads: (n) => inReads(many(n, frame(PING, ''))) },
  { name: 'pings of 125 bytes', reads: (n) => inReads(many(n, frame(PING, letters(125)))) },
  { name: 'messages that are short', reads: (n) => inReads(many(n, frame(TEXT, '{}'))) },
  { name: 'messages, all in one read', reads: (n) => inReads(many(n, frame(TEXT, '{"type":"x"}')), n) },
  { name: 'turns, all in one read', reads: (n) => inReads(many(n, frame(TEXT, input('"x"'))), n) },
  { name: 'a message in reads of 100 bytes', reads: (n) => inReads(frame(TEXT, whole(n)), 100) },
  { name: 'a message in reads of one byte', reads: (n) => inReads(frame(TEXT, whole(n / 80)), 1) },
  { name: 'pings in reads of one byte', reads: (n) => inReads(many(n / 8, frame(PING, 'x')), 1) },
];
