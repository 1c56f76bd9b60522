import type { JsonObject } from '../../src/formats/conversation.ts';
import type { ClientContext } from '../../src/formats/format.ts';
import { formats } from '../../src/formats/index.ts';
import { plainFromStream, streamFromPlain, streamWithUsage } from '../../src/formats/streams/replay.ts';
import type { PassThroughCodec, TranslatingCodec } from '../../src/core/providers/codec.ts';
import { openAiEmbeddings, openAiModerations } from '../../src/core/providers/openai/whole-replies.ts';
import {
  openAiCompletions,
  openAiImages,
  openAiSpeech,
  openAiTranscriptions,
} from '../../src/core/providers/openai/event-tasks.ts';
import { embedContentCodec } from '../../src/core/providers/vertex-ai/embeddings/embed-content.ts';
import { multimodalCodec } from '../../src/core/providers/vertex-ai/embeddings/multimodal.ts';
import { textCodec } from '../../src/core/providers/vertex-ai/embeddings/text.ts';
import { decodeGeminiImages } from '../../src/core/providers/vertex-ai/images/gemini.ts';
import { decodeImagen } from '../../src/core/providers/vertex-ai/images/imagen.ts';
import { asImageEvents } from '../../src/formats/streams/openai-image-events.ts';
import { cutInto, deep, escapes, fill, keys, letters, list } from './replies-build.ts';
import { NAMES, SHAPES } from './replies-run.ts';

/** Work on a reply of about so many bytes; `prepare` makes the reply. */
export interface TaskReplyWork {
  readonly name: string;
  readonly prepare: (bytes: number) => () => void;
  /** The bound of the growth, where it is not `MOST_GROWTH`. */
  readonly most?: number;
}

/**
 * V8's own `JSON.parse` and `JSON.stringify` take 15 times the time for eight times the keys of one object (measured, Node 24.21). The
 * bound has the same margin above them as `MOST_GROWTH` has above 8.
 */
const MOST_GROWTH_OF_KEYS = 26;

const context = { model: 'm', created: 1, strict: false, labels: {} };

/** A reply as it leaves: read in pieces of 1 KB by the codec of a place that speaks the client's API. */
const read = (codec: PassThroughCodec, stream: boolean, text: string): (() => void) => {
  const reads = cutInto(Buffer.from(text), 1024);
  return () => {
    const reader = codec.openReader('m', stream);
    for (const bytes of reads) reader.push(bytes);
    reader.end();
  };
};

const passed = (name: string, codec: PassThroughCodec, reply: (bytes: number) => string): TaskReplyWork => ({
  name: `OpenAI, ${name}`,
  prepare: (bytes) => read(codec, name.startsWith('a stream'), reply(bytes)),
});

const vector = (values: string): string => `{"object":"embedding","index":0,"embedding":${values}}`;
const image = '{"type":"image_generation.completed","b64_json":"AAAA","usage":{"input_tokens":1,"output_tokens":1}}';

const PASSED: readonly TaskReplyWork[] = [
  passed('many vectors', openAiEmbeddings, (n) => `{"data":${list(fill(n, () => vector('[0.1]')))}}`),
  passed('one long vector', openAiEmbeddings, (n) => `{"data":[${vector(list(fill(n, () => '0.123')))}]}`),
  passed('a vector in base64', openAiEmbeddings, (n) => `{"data":[${vector(`"${letters(n)}"`)}]}`),
  {
    ...passed('vectors with unknown keys', openAiEmbeddings, (n) => `{"data":[${vector('[1]')}],${keys(n)}}`),
    most: MOST_GROWTH_OF_KEYS,
  },
  passed('many images', openAiImages, (n) => `{"data":${list(fill(n, () => '{"b64_json":"AAAA"}'))}}`),
  passed('a large image', openAiImages, (n) => `{"data":[{"b64_json":"${letters(n)}"}]}`),
  passed(
    'a deep reply',
    openAiImages,
    (n) => `{"data":[{"b64_json":"AAAA","x":${deep(Math.min(n, 4000))}}],"y":${escapes(n)}}`,
  ),
  passed('a stream of images', openAiImages, (n) => fill(n, () => `data: ${image}\n\n`).join('')),
  passed('a stream of drafts', openAiImages, (n) =>
    fill(n, () => `data: ${image.replace('completed', 'partial_image')}\n\n`).join(''),
  ),
  passed('a stream of comments', openAiImages, (n) => `${': c\n\n'.repeat(n / 5)}data: ${image}\n\n`),
  passed('a stream that is one event without an end', openAiImages, (n) => `data: "${letters(n)}`),
  passed(
    'a stream that is a whole reply',
    openAiImages,
    (n) => `{"data":${list(fill(n / 2, () => '{"b64_json":"AAAA"}'))},"x":"${letters(n / 2)}"}`,
  ),
];

const done = '{"type":"speech.audio.done"}';

const MEDIA: readonly TaskReplyWork[] = [
  passed('many completions', openAiCompletions, (n) => `{"choices":${list(fill(n, () => '{"text":"a"}'))}}`),
  passed('a stream of completions', openAiCompletions, (n) =>
    fill(n, () => `data: {"choices":[{"text":"a","finish_reason":"stop"}]}\n\n`).join(''),
  ),
  passed('many results', openAiModerations, (n) => `{"results":${list(fill(n, () => '{"flagged":true}'))}}`),
  passed('sound', openAiSpeech, letters),
  passed('a long transcript', openAiTranscriptions, (n) => `{"text":"${letters(n)}"}`),
  passed(
    'a transcript of many words',
    openAiTranscriptions,
    (n) => `{"text":"a","words":${list(fill(n, () => '{"word":"a"}'))}}`,
  ),
  passed('a stream of a transcript', openAiTranscriptions, (n) =>
    fill(n, () => 'data: {"type":"transcript.text.delta","delta":"a"}\n\n').join(''),
  ),
  passed('a stream of sound', openAiSpeech, (n) => fill(n, () => `data: ${done}\n\n`).join('')),
];

/** Replies of Google, one for each call: `input` makes as many calls as there are replies. */
function decoded(name: string, codec: TranslatingCodec, made: (bytes: number) => Made): TaskReplyWork {
  return {
    name: `Vertex AI, ${name}`,
    prepare(bytes) {
      const { input, replies } = made(bytes);
      const texts = replies.map((reply) => JSON.stringify(reply));
      const task = codec.encode({ model: 'm', input, encoding_format: 'base64' }, context);
      return () => {
        const read = texts.map((text): unknown => JSON.parse(text));
        for (const [call, reply] of read.entries()) task.check?.(reply, call);
        JSON.stringify(task.decode(read));
      };
    },
  };
}

interface Made {
  readonly input: unknown;
  readonly replies: readonly object[];
}

const numbers = (bytes: number): number[] => Array.from({ length: Math.ceil(bytes / 6) }, () => 0.123);
/** A request has at most 2,048 inputs: so many numbers each fill 1 MB. */
const FEW = numbers(540);
const prediction = (values: readonly number[]): object => ({ embeddings: { values, statistics: { token_count: 1 } } });
const batches = (bytes: number, reply: object, perCall = 1): Made => {
  const replies = fill(bytes, () => JSON.stringify(reply)).map(() => reply);
  return { input: Array.from({ length: replies.length * perCall }, () => 'x'), replies };
};

const DECODED: readonly TaskReplyWork[] = [
  decoded('a batch for each text', textCodec({ instancesPerCall: 1, parallelCalls: 4 }), (n) =>
    batches(n, { predictions: [prediction(FEW)] }),
  ),
  decoded('batches of five texts', textCodec({ instancesPerCall: 5, parallelCalls: 4 }), (n) =>
    batches(n, { predictions: Array.from({ length: 5 }, () => prediction(FEW)) }, 5),
  ),
  decoded('one long vector', textCodec({ instancesPerCall: 1, parallelCalls: 4 }), (n) => ({
    input: ['x'],
    replies: [{ predictions: [prediction(numbers(n))] }],
  })),
  decoded('contents, one each', embedContentCodec(4), (n) => batches(n, { embedding: { values: FEW } })),
  decoded('many vectors of a film', multimodalCodec(4), (n) => ({
    input: [{ video: { url: 'gs://b/o.mp4' } }],
    replies: [
      { predictions: [{ videoEmbeddings: fill(n, () => '{"embedding":[0.1]}').map(() => ({ embedding: [0.1] })) }] },
    ],
  })),
];

/** One reply of a model that draws. */
const drawn = (name: string, decode: (reply: unknown) => unknown, reply: (bytes: number) => string): TaskReplyWork => ({
  name: `Vertex AI, ${name}`,
  prepare(bytes) {
    const text = reply(bytes);
    return () => void JSON.stringify(decode(JSON.parse(text)));
  },
});

const imagen = (reply: unknown): unknown => decodeImagen(reply, 4, context);
const gemini = (reply: unknown): unknown => decodeGeminiImages([reply], context);
const inline = '{"inlineData":{"mimeType":"image/png","data":"AAAA"}}';
const parts = (items: string): string => `{"candidates":[{"content":{"parts":${items}},"finishReason":"STOP"}]}`;

const DRAWN: readonly TaskReplyWork[] = [
  drawn(
    'many predictions of Imagen',
    imagen,
    (n) => `{"predictions":${list(fill(n, () => '{"bytesBase64Encoded":"AAAA"}'))}}`,
  ),
  drawn(
    'many reasons of Imagen',
    imagen,
    (n) => `{"predictions":${list(fill(n, (at) => `{"raiFilteredReason":"r${at}"}`))}}`,
  ),
  drawn('many pictures of Gemini', gemini, (n) => parts(list(fill(n, () => inline)))),
  drawn('pictures of Gemini and a long text', gemini, (n) =>
    parts(list([`{"text":"${letters(n / 2)}"}`, ...fill(n / 2, () => inline)])),
  ),
  drawn('words of Gemini and no picture', gemini, (n) => parts(list(fill(n, () => '{"text":"a"}')))),
  drawn(
    'a whole reply as a stream of images',
    (reply) => asImageEvents(reply as JsonObject),
    (n) => `{"data":${list(fill(n / 2, () => '{"b64_json":"AAAA"}'))},"x":"${letters(n / 2)}"}`,
  ),
];

const client: ClientContext = { id: 'id', created: 1, strict: false, includeUsage: true, model: 'm' };
const usage = { input: 1, output: 1, total: 2 };
/** Text in small events, calls, blocks, citations: what a cache keeps of long answers. */
const REPLAYED = /^(?:text of one letter each|many (?:calls|texts)|calls in turn.*|signed texts|citations.*|blocks)$/;

/** A kept reply in the other form. What cannot be told so is a refusal, which is an outcome. */
const REPLAYS: readonly TaskReplyWork[] = NAMES.flatMap((name) =>
  SHAPES[name]
    .filter((shape) => REPLAYED.test(shape.name))
    .map(({ stream, name: shape, build }): TaskReplyWork => ({
      name: `cache, ${name} ${stream ? 'stream' : 'plain'}: ${shape}`,
      prepare(bytes) {
        const kept = build(bytes);
        const format = formats[name];
        if (!stream) return () => void streamFromPlain(format, JSON.parse(kept.toString()), client);
        return () => {
          plainFromStream(format, kept, usage, client);
          streamWithUsage(format, kept, usage, client);
        };
      },
    })),
);

export const TASK_REPLIES: readonly TaskReplyWork[] = [...PASSED, ...MEDIA, ...DECODED, ...DRAWN, ...REPLAYS];
