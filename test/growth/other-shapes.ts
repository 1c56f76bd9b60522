import { members, nest, repeat, text, type Json } from './repeat.ts';
import { SCHEMAS } from './schema-shapes.ts';

const ASK = { role: 'user', parts: [{ text: 'x' }] };
const count = (more: object): Json => ({ model: 'm', contents: [ASK], ...more });
const talk = (contents: readonly unknown[]): Json => count({ contents });
const call = (name: string, more: object = {}) => ({ functionCall: { name, args: {}, ...more } });
const response = (name: string, more: object = {}) => ({
  functionResponse: { name, response: { output: 'r' }, ...more },
});

const ANSWERED = [
  { text: 'x', thought: true },
  { text: 'y', thoughtSignature: 'c2ln' },
  { executableCode: { language: 'PYTHON', code: '1' } },
  { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
];

/** Bodies of Vertex AI's count of tokens. */
export const VERTEX_COUNT_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  'top-level keys': (bytes) => count(members(bytes, (at) => [`k_${at}`, 1])),
  contents: (bytes) => talk(repeat(bytes, () => ASK)),
  'contents in turn': (bytes) =>
    talk(repeat(bytes, (at) => ({ role: at % 2 === 0 ? 'user' : 'model', parts: [{ text: 'x' }] }))),
  parts: (bytes) => talk([{ role: 'user', parts: repeat(bytes, () => ({ text: 'x' })) }]),
  'unknown parts': (bytes) => talk([{ role: 'user', parts: repeat(bytes, (at) => ({ text: 'x', [`k_${at}`]: 1 })) }]),
  'unknown fields of one part': (bytes) =>
    talk([{ role: 'user', parts: [{ text: 'x', ...members(bytes, (at) => [`k_${at}`, 1]) }] }]),
  media: (bytes) =>
    talk([{ role: 'user', parts: repeat(bytes, () => ({ inlineData: { mimeType: 'image/png', data: 'AA==' } })) }]),
  'thoughts, signatures and code in turn': (bytes) =>
    talk([ASK, { role: 'model', parts: repeat(bytes, (at) => ANSWERED[at % ANSWERED.length]) }, ASK]),
  'a system instruction of many parts, and safety settings': (bytes) =>
    count({
      systemInstruction: { parts: repeat(bytes / 2, () => ({ text: 'x' })) },
      safetySettings: repeat(bytes / 2, (at) => ({ category: `c${at}`, threshold: 'BLOCK_NONE' })),
    }),
  'calls and responses in order': (bytes) => responses(bytes, (names) => names),
  'calls and responses in reverse order': (bytes) => responses(bytes, (names) => names.toReversed()),
  'calls and responses by id in reverse order': (bytes) => {
    const ids = repeat(bytes / 8, (at) => `c${at}`);
    return talk([
      { role: 'model', parts: ids.map((id) => call('f', { id })) },
      { role: 'user', parts: ids.toReversed().map((id) => response('f', { id })) },
    ]);
  },
  'calls and responses of one name': (bytes) => {
    const all = repeat(bytes / 8, () => 'f');
    return talk([
      { role: 'model', parts: all.map((name) => call(name)) },
      { role: 'user', parts: all.map((name) => response(name)) },
    ]);
  },
  'responses that answer no call': (bytes) =>
    talk([
      { role: 'model', parts: repeat(bytes / 2, (at) => call(`f${at}`)) },
      { role: 'user', parts: repeat(bytes / 2, (at) => response(`g${at}`)) },
    ]),
  declarations: (bytes) =>
    count({ tools: [{ functionDeclarations: repeat(bytes, (at) => ({ name: `f${at}`, [`k_${at}`]: 1 })) }] }),
  tools: (bytes) => count({ tools: repeat(bytes, (at) => ({ [`k_${at}`]: {} })) }),
  'tools of many fields': (bytes) => count({ tools: [members(bytes, (at) => [`k_${at}`, {}])] }),
  'allowed functions': (bytes) => {
    const names = repeat(bytes / 4, (at) => `f${at}`);
    return count({
      tools: [{ functionDeclarations: names.map((name) => ({ name })) }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: names.toReversed() } },
    });
  },
  'stop sequences': (bytes) => count({ generationConfig: { stopSequences: repeat(bytes, (at) => `s${at}`) } }),
  configuration: (bytes) => count({ generationConfig: members(bytes, (at) => [`k_${at}`, 1]) }),
  labels: (bytes) => count({ labels: members(bytes, (at) => [`k${at}`, 'v']) }),
  'one long text': (bytes) => talk([{ role: 'user', parts: [{ text: text(bytes, '\\"\n') }] }]),
  'one long name': (bytes) => count({ [text(bytes, '_a_B')]: 1 }),
  'nested lists': (bytes) => count({ x: repeat(bytes, () => nest(55, (inner) => [inner], 1)) }),
  'a last content that is wrong': (bytes) => talk([...repeat(bytes, () => ASK), { role: 'nobody', parts: [] }]),
  ...Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [
      `a function and an answer with ${name}`,
      (bytes: number) =>
        count({
          tools: [{ functionDeclarations: [{ name: 'f', parameters: schema(bytes / 2) }] }],
          generationConfig: { responseMimeType: 'application/json', responseSchema: schema(bytes / 2) },
        }),
    ]),
  ),
};

function responses(bytes: number, order: (names: readonly string[]) => readonly string[]): Json {
  const names = repeat(bytes / 7, (at) => `f${at}`);
  return talk([
    { role: 'model', parts: names.map((name) => call(name)) },
    { role: 'user', parts: order(names).map((name) => response(name)) },
  ]);
}

const embed = (more: object): Json => ({ model: 'm', input: 'x', ...more });

export const EMBEDDINGS_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  'top-level keys': (bytes) => embed(members(bytes, (at) => [`k${at}`, 1])),
  inputs: (bytes) => embed({ input: repeat(bytes, () => 'x') }),
  'long inputs': (bytes) => embed({ input: repeat(bytes, () => text(1000)) }),
  'one long input': (bytes) => embed({ input: text(bytes, '\\"\n') }),
  tokens: (bytes) => embed({ input: repeat(bytes, (at) => at) }),
  'lists of tokens': (bytes) => embed({ input: repeat(bytes, (at) => [at, at]) }),
  'inputs with unknown fields': (bytes) =>
    embed({ input: repeat(bytes, (at) => ({ text: 'x'.repeat(600), [`k${at}`]: 1 })) }),
  'one input with unknown fields': (bytes) => embed({ input: { text: 'x', ...members(bytes, (at) => [`k${at}`, 1]) } }),
  'inputs with pictures': (bytes) =>
    embed({ input: repeat(bytes, (at) => ({ image: { base64: text(700, 'AAAA'), [`k${at}`]: 1 } })) }),
  'nested lists': (bytes) => embed({ x: repeat(bytes, () => nest(55, (inner) => [inner], 1)) }),
};

const draw = (more: object): Json => ({ model: 'm', prompt: 'x', ...more });

export const IMAGES_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  'top-level keys': (bytes) => draw(members(bytes, (at) => [`k${at}`, 1])),
  'one long prompt': (bytes) => draw({ prompt: text(bytes, '\\"\n') }),
  'one long size': (bytes) => draw({ size: text(bytes, '1') }),
  labels: (bytes) => draw({ labels: members(bytes, (at) => [`k${at}`, 'v']) }),
  'safety settings': (bytes) => draw({ safetySettings: repeat(bytes, () => ({ category: 'c' })) }),
  'nested lists': (bytes) => draw({ x: repeat(bytes, () => nest(55, (inner) => [inner], 1)) }),
};

const embedAll = (requests: readonly object[], more: object = {}): Json => ({ requests, ...more });
const words = { parts: [{ text: 'x' }] };

/** Bodies of batchEmbedContents. */
export const BATCH_EMBED_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  requests: (bytes) => embedAll(repeat(bytes, () => ({ content: words }))),
  'requests of different settings': (bytes) =>
    embedAll(repeat(bytes, (at) => ({ content: words, ...(at > 0 && { taskType: `T${at}` }) }))),
  'unknown fields of requests': (bytes) => embedAll(repeat(bytes, (at) => ({ content: words, [`k_${at}`]: 1 }))),
  'unknown fields of one request': (bytes) => embedAll([{ content: words, ...members(bytes, (at) => [`k_${at}`, 1]) }]),
  parts: (bytes) => embedAll([{ content: { parts: repeat(bytes, () => ({ text: 'x' })) } }]),
  'media of one content': (bytes) =>
    embedAll([{ content: { parts: repeat(bytes, () => ({ inlineData: { mimeType: 'image/png', data: 'AA==' } })) } }]),
};

/** The same in the Developer API's field for a whole request. */
export const DEVELOPER_COUNT_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = Object.fromEntries(
  Object.entries(VERTEX_COUNT_SHAPES).map(([name, make]) => [
    name,
    (bytes: number) => ({ generateContentRequest: make(bytes) }),
  ]),
);

const embedOne = (parts: readonly object[], more: object = {}): Json => ({ content: { parts }, ...more });

/** Bodies of embedContent. */
export const EMBED_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  'top-level keys': (bytes) =>
    embedOne(
      words.parts,
      members(bytes, (at) => [`k_${at}`, 1]),
    ),
  parts: (bytes) => embedOne(repeat(bytes, () => ({ text: 'x' }))),
  'unknown fields of parts': (bytes) => embedOne(repeat(bytes, (at) => ({ text: 'x', [`k_${at}`]: 1 }))),
  'one long text': (bytes) => embedOne([{ text: text(bytes, '\\"\n') }]),
  'nested lists': (bytes) => embedOne(words.parts, { x: repeat(bytes, () => nest(55, (inner) => [inner], 1)) }),
};

const predict = (instances: readonly object[], more: object = {}): Json => ({ instances, ...more });

/** Bodies of Vertex AI's predict. */
export const PREDICT_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  'top-level keys': (bytes) =>
    predict(
      [{ content: 'x' }],
      members(bytes, (at) => [`k_${at}`, 1]),
    ),
  instances: (bytes) => predict(repeat(bytes, () => ({ content: 'x' }))),
  'instances of different purposes': (bytes) =>
    predict(repeat(bytes, (at) => ({ content: 'x', ...(at > 0 && { task_type: `T${at}` }) }))),
  'unknown fields of instances': (bytes) => predict(repeat(bytes, (at) => ({ content: 'x', [`k_${at}`]: 1 }))),
  'unknown fields of one instance': (bytes) => predict([{ content: 'x', ...members(bytes, (at) => [`k_${at}`, 1]) }]),
  pictures: (bytes) => predict(repeat(bytes, () => ({ text: 'x', image: { bytesBase64Encoded: text(700, 'AAAA') } }))),
  parameters: (bytes) => predict([{ content: 'x' }], { parameters: members(bytes, (at) => [`k_${at}`, 1]) }),
};

const passed = (more: object): Json => ({ model: 'm', prompt: 'x', input: 'x', voice: 'v', ...more });

/** Bodies that pass through: completions, moderations, speech. */
export const PASSED_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  'top-level keys': (bytes) => passed(members(bytes, (at) => [`k_${at}`, 1])),
  'one long text': (bytes) => passed({ prompt: text(bytes), input: text(bytes) }),
  'many texts': (bytes) => passed({ prompt: repeat(bytes, () => 'x'), input: repeat(bytes, () => 'x') }),
  biases: (bytes) => passed({ logit_bias: members(bytes, (at) => [`${at}`, 1]) }),
  tokens: (bytes) => passed({ prompt: repeat(bytes, (at) => at) }),
  'lists of tokens': (bytes) => passed({ prompt: repeat(bytes, (at) => [at]) }),
  'parts of an input': (bytes) => passed({ input: repeat(bytes, () => ({ type: 'text', text: 'x' })) }),
  'a text of escapes': (bytes) => passed({ prompt: text(bytes, '\\"\n'), input: text(bytes, '\\"\n') }),
  'nested lists': (bytes) => passed({ x: repeat(bytes, () => nest(55, (inner) => [inner], 1)) }),
};
