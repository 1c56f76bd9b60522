import { withModelName } from '../../plugins/config/model-name.ts';
import { KeptStream } from '../../src/addons/responses/plugins/responses/kept-body.ts';
import { clientCodec } from '../../src/core/translate/client-codec.ts';
import { formats } from '../../src/formats/index.ts';
import { geminiArray } from '../../src/formats/gemini/index.ts';
import { ReplyFault } from '../../src/formats/faults.ts';
import type { ClientContext, PassThrough } from '../../src/formats/format.ts';
import { translatingReader } from '../../src/formats/streams/readers.ts';
import { geminiEmbeddings } from '../../src/core/operations/gemini.ts';
import { createExchange, createSource } from '../../src/plugin/testing/index.ts';
import { openAiCompletions, openAiSpeech, openAiTranscriptions } from '../../src/core/providers/openai/event-tasks.ts';
import { openAiEmbeddings } from '../../src/core/providers/openai/whole-replies.ts';
import type { PassThroughCodec } from '../../src/core/providers/codec.ts';
import { cutInto, deep, escapes, fill, keys, letters, list, wide } from './replies-build.ts';
import { NAMES, readsOf, SHAPES } from './replies-run.ts';
import type { TaskReplyWork } from './task-replies.ts';

const client: ClientContext = { id: 'id', created: 1, strict: false, includeUsage: true, model: 'm' };

function drain(reader: PassThrough, reads: readonly Buffer[]): void {
  try {
    for (const read of reads) reader.push(read);
    reader.end();
  } catch (error) {
    // A value that nests deeper than the stack is refused by the caller of the reader (upstream/try.ts).
    if (!(error instanceof ReplyFault) && !(error instanceof RangeError)) throw error;
  }
}

/** Streams that a client of Google's API gets as one JSON array: from Google itself, and from others. */
const ARRAYS: readonly TaskReplyWork[] = [
  ...SHAPES.gemini.filter(
    ({ stream, name }) => stream && /letter each$|array|list|calls|comments|empty|cannot/.test(name),
  ),
  ...SHAPES['openai-chat'].filter(({ stream, name }) => stream && /letter each$|citation/.test(name)),
].map((shape) => ({
  name: `JSON array, ${shape.name}`,
  prepare(bytes) {
    const reads = readsOf(shape, bytes);
    const upstream = SHAPES.gemini.includes(shape) ? 'gemini' : 'openai-chat';
    const context = { model: 'm', newCallId: () => 'call' };
    return () => {
      const reader =
        upstream === 'gemini'
          ? geminiArray.passThrough.open(client, true)
          : translatingReader(
              { upstream: formats[upstream], client: geminiArray, reply: context, context: client },
              true,
              'text/event-stream',
            );
      drain(reader, reads);
    };
  },
}));

const chunk = (fields: string): string => `data: {"choices":[{"text":"a"}],${fields}}\n\n`;
/** Events of tasks that are no conversation. */
const EVENTS: Readonly<Record<string, (bytes: number) => string>> = {
  'usage: null in each': (n) => fill(n, () => chunk('"usage":null')).join(''),
  'usage in each': (n) => fill(n, () => chunk('"usage":{"prompt_tokens":1}')).join(''),
  'usage of many keys': (n) => chunk(`"usage":{${keys(n)}}`),
  'usage behind many keys': (n) => chunk(`${keys(n)},"usage":null`),
  'usage within a text': (n) => fill(n, () => chunk(String.raw`"x":"\"usage\":null,","usage":null`)).join(''),
  'a deep event': (n) => chunk(`"x":${deep(n)}`),
  'a wide event': (n) => chunk(`"x":${wide(n)},"usage":null`),
  'a text of escapes': (n) => chunk(`"x":${escapes(n)},"usage":null`),
  comments: (n) => fill(n, () => ': c\n\n').join(''),
  'lines that end in CR': (n) => fill(n, () => 'data: {"text":"a"}\r\r').join(''),
  'an event without an end': (n) => `data: {"x":"${letters(n)}`,
  'a plain reply': (n) => `{"choices":${list(fill(n, () => '{"text":"a"}'))},"usage":null}`,
  'sound in base64': (n) => fill(n, () => 'data: {"type":"speech.audio.delta","audio":"AAAA"}\n\n').join(''),
};
const CODECS: Readonly<Record<string, PassThroughCodec>> = {
  completions: openAiCompletions,
  speech: openAiSpeech,
  transcriptions: openAiTranscriptions,
};
const HIDDEN = { hidesUsage: true, encoding: undefined };
const STREAMED: readonly TaskReplyWork[] = Object.entries(CODECS).flatMap(([name, codec]) =>
  Object.entries(EVENTS).map(([shape, text]) => ({
    name: `stream of ${name}, ${shape}`,
    prepare(bytes: number) {
      const reads = cutInto(Buffer.from(text(bytes)), 1024);
      return () => drain(codec.openReader('m', true, 'text/event-stream', HIDDEN), reads);
    },
  })),
);

const BODIES: Readonly<Record<string, object>> = {
  'gemini.embed_content': { content: { parts: [{ text: 'x' }] } },
  'gemini.batch_embed_contents': { requests: [{ content: { parts: [{ text: 'x' }] } }] },
  'vertex.predict': { instances: [{ content: 'x' }] },
};
const VECTORS: Readonly<Record<string, (bytes: number) => string>> = {
  'many vectors': (n) => list(fill(n, (at) => `{"index":${at},"embedding":[0.1]}`)),
  'vectors with one index': (n) => list(fill(n, () => '{"index":0,"embedding":[0.1]}')),
  'one long vector': (n) => `[{"index":0,"embedding":${list(fill(n, () => '0.123'))}}]`,
  'a vector in base64': (n) => `[{"index":0,"embedding":"${letters(n)}"}]`,
};
/** Vectors of OpenAI's API for clients of Google's. */
const EMBEDDED: readonly TaskReplyWork[] = Object.entries(BODIES).flatMap(([id, body]) =>
  Object.entries(VECTORS).map(([shape, data]) => ({
    name: `${id}, ${shape}`,
    prepare(bytes: number) {
      const operation = geminiEmbeddings.find((one) => one.id === id)!;
      const codec = clientCodec({ operation, resolved: {} as never }, openAiEmbeddings);
      if (codec.mode !== 'translate') throw new Error('the target has another API');
      const task = codec.encode({ model: 'm', ...body }, { model: 'm', created: 1, strict: false, labels: {} });
      const text = `{"data":${data(bytes)},"usage":{"prompt_tokens":1,"total_tokens":1}}`;
      return () => {
        try {
          JSON.stringify(task.decode([JSON.parse(text)]));
        } catch (error) {
          if (!(error instanceof ReplyFault)) throw error;
        }
      };
    },
  })),
);

/** A reply of a model that has another name for its client. */
const NAMED: readonly TaskReplyWork[] = NAMES.flatMap((format) =>
  SHAPES[format]
    .filter(({ name }) => /^(?:a stream of )?text of one letter each$|keys of|without end|array of/.test(name))
    .map((shape) => ({
      name: `alias, ${format} ${shape.stream ? 'stream' : 'plain'}: ${shape.name}`,
      prepare(bytes: number) {
        const body = shape.build(bytes);
        const isEvents = shape.stream && body[0] !== 0x5b;
        const headers = { 'content-type': isEvents ? 'text/event-stream' : 'application/json' };
        return () => void withModelName({ body, headers }, { format, name: 'alias' });
      },
    })),
);

/** Streams of responses that the gateway keeps. */
const KEPT: readonly TaskReplyWork[] = SHAPES['openai-responses']
  .filter(({ stream, name }) => stream && /letter|events|item$/.test(name))
  .map((shape) => ({
    name: `kept, ${shape.name}`,
    prepare(bytes) {
      const reads = readsOf(shape, bytes);
      return () => {
        const source = createSource();
        const kept = new KeptStream(source, createExchange(), () => undefined);
        kept.open({ push() {}, end() {}, fail() {} });
        for (const read of reads) kept.push(read);
        kept.end();
      };
    },
  }));

export const DOOR_REPLIES: readonly TaskReplyWork[] = [...ARRAYS, ...STREAMED, ...EMBEDDED, ...NAMED, ...KEPT];
