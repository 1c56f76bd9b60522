import { USAGE } from '../words.ts';
import { answersCall, refuse, type Answer, type Ask, type Call } from './ask.ts';
import { checkJsonSchema, checkSchemaDocument } from './gemini-schema.ts';
import { fields, list, oneOf, only, text, words, type Fields } from './strict.ts';
import { halves, RETRY_AFTER, type Wire } from './wire.ts';

/**
 * Gemini on Vertex AI (docs/protocols/gemini.md#request-body, docs/protocols/gemini.md#reply, docs/protocols/gemini.md#stream,
 * docs/protocols/errors.md#google-errors).
 */

/** Base64 with all of its alphabet, which neither ids nor URLs bear. */
export const GEMINI_SIGNATURE = 'R2VtaW5p+/thoughtg==';
const SKIP = 'skip_thought_signature_validator';

const TOP = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'safetySettings', 'generationConfig', 'labels'];
const CONFIG = words(
  'temperature topP topK candidateCount maxOutputTokens stopSequences seed presencePenalty ' +
    'frequencyPenalty responseMimeType responseJsonSchema responseModalities thinkingConfig imageConfig',
);
const TOOLS = ['functionDeclarations', 'googleSearch'];
/** Media of a function's response (docs/protocols/gemini.md#function-response). */
const RESPONSE_MEDIA = words('image/png image/jpeg image/webp application/pdf text/plain');
const PAYLOADS = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'];

export interface Content {
  readonly role: string;
  readonly parts: readonly Fields[];
}

const modelOf = (url: string): string => /models\/([^:]+):/.exec(url)?.[1] ?? refuse(`No model in ${url}.`);
const isThird = (url: string): boolean => modelOf(url).startsWith('gemini-3');

export function readContents(value: unknown, third: boolean): readonly Content[] {
  const contents = list(value, 'contents').map((content, index): Content => {
    const at = `contents[${index}]`;
    const { role, parts } = only(content, at, ['role', 'parts']);
    return { role: text(role, `${at}.role`), parts: readParts(parts, `${at}.parts`, third) };
  });
  if (contents[0]?.role !== 'user') refuse('The first content must be of role user.');
  // Signatures of earlier turns are not checked (docs/protocols/gemini.md#missing-signature).
  const current = contents.findLastIndex(({ role, parts }) => role === 'user' && textOf(parts) !== '');
  contents.forEach((content, index) =>
    checkTurn(content, contents[index - 1], contents[index + 1], third && index > current),
  );
  return contents;
}

function readParts(value: unknown, at: string, third: boolean): readonly Fields[] {
  const parts = list(value, at).map((part, index) => {
    const read = only(part, `${at}[${index}]`, [...PAYLOADS, 'thought', 'thoughtSignature', 'mediaResolution']);
    const kind = oneOf(read, `${at}[${index}]`, PAYLOADS);
    if (kind === 'functionCall') only(read[kind], `${at}.functionCall`, ['id', 'name', 'args']);
    if (kind === 'functionResponse') checkResponse(read[kind], `${at}.functionResponse`, third);
    if (kind === 'inlineData') only(read[kind], `${at}.inlineData`, ['mimeType', 'data']);
    const signature = read['thoughtSignature'];
    if (signature !== undefined && signature !== GEMINI_SIGNATURE && signature !== SKIP)
      refuse(`${at}[${index}]: the thought signature is not valid.`);
    return read;
  });
  return parts.length > 0 ? parts : refuse(`${at} must not be empty.`);
}

function checkResponse(value: unknown, at: string, third: boolean): void {
  const { response, parts = [] } = only(value, at, ['id', 'name', 'response', 'parts']);
  fields(response, `${at}.response`);
  for (const part of list(parts, `${at}.parts`)) {
    if (!third) refuse('Multimodal function responses are not supported for this model.');
    const { inlineData } = only(part, `${at}.parts[]`, ['inlineData']);
    const { mimeType } = only(inlineData, `${at}.parts[].inlineData`, ['mimeType', 'data']);
    if (!RESPONSE_MEDIA.includes(text(mimeType, 'mimeType'))) refuse(`Unsupported MIME type: ${String(mimeType)}.`);
  }
}

function checkTurn({ role, parts }: Content, before: Content | undefined, after: Content | undefined, third: boolean) {
  if (role !== 'user' && role !== 'model') refuse('Please use a valid role: user, model.');
  const responses = parts.filter((part) => 'functionResponse' in part);
  if (responses.length > 0) {
    if (responses.length < parts.length) refuse('Function responses stand in a content of their own.');
    const calls = before ? callsOf(before) : [];
    if (calls.length !== responses.length)
      refuse('The number of function response parts must equal the number of function call parts.');
    calls.forEach(({ name }, index) => {
      if (fields(responses[index]?.['functionResponse'], 'functionResponse')['name'] !== name)
        refuse('A function response has another name than its call.');
    });
  } else if (role === 'user' && before?.role === role && !before.parts.some((part) => 'functionResponse' in part)) {
    // Not two of the model: Gemini CLI 0.61 sends them when it compresses a conversation.
    refuse('Contents must alternate between user and model.');
  }
  const call = parts.find((part) => 'functionCall' in part);
  if (!call) return;
  if (role !== 'model') refuse('A function call stands in a content of role model.');
  if (!after?.parts.some((part) => 'functionResponse' in part))
    refuse('A function call turn must be followed by its function responses.');
  if (third && call['thoughtSignature'] === undefined)
    refuse('Function call is missing a thought_signature in functionCall parts.');
}

function callsOf({ parts }: Content): Call[] {
  return parts
    .filter((part) => 'functionCall' in part)
    .map(({ functionCall }) => {
      const { name, args } = fields(functionCall, 'functionCall');
      return { name: text(name, 'name'), args: fields(args ?? {}, 'args') };
    });
}

const textOf = (parts: readonly Fields[]): string => parts.map((part) => part['text'] ?? '').join('');

export function readTools(body: Fields, third: boolean): { tools: string[]; forced: string | undefined } {
  const given = list(body['tools'] ?? [], 'tools').map((tool) => only(tool, 'tools[]', TOOLS));
  const kinds = given.map((tool) => oneOf(tool, 'tools[]', TOOLS));
  if (!third && kinds.includes('functionDeclarations') && kinds.includes('googleSearch'))
    refuse('Multiple tools are supported only when they are all search tools.');
  const tools = given.flatMap((tool) => list(tool['functionDeclarations'] ?? [], 'functionDeclarations'));
  const names = tools.map((tool) => {
    const declared = only(tool, 'functionDeclarations[]', [
      'name',
      'description',
      'parametersJsonSchema',
      'parameters',
    ]);
    if (declared['parametersJsonSchema'] !== undefined)
      checkSchemaDocument(declared['parametersJsonSchema'], 'parametersJsonSchema');
    return text(declared['name'], 'functionDeclarations[].name');
  });
  const config = only(body['toolConfig'] ?? {}, 'toolConfig', ['functionCallingConfig'])['functionCallingConfig'];
  if (config === undefined) return { tools: names, forced: undefined };
  if (names.length === 0) refuse('Function calling config is set without function_declarations.');
  const { mode, allowedFunctionNames } = only(config, 'functionCallingConfig', ['mode', 'allowedFunctionNames']);
  if (allowedFunctionNames !== undefined && mode !== 'ANY') refuse('allowed_function_names needs mode ANY.');
  if (mode === 'VALIDATED' && !third && names.length === 0) refuse('Nothing to validate.');
  const forced = mode === 'ANY' ? (list(allowedFunctionNames ?? names, 'allowedFunctionNames')[0] ?? '') : undefined;
  return { tools: mode === 'NONE' ? [] : names, forced: forced === undefined ? undefined : text(forced, 'forced') };
}

function checkConfig(config: Fields, third: boolean, tools: readonly string[]): void {
  const json = config['responseJsonSchema'];
  if (json !== undefined) {
    if (config['responseMimeType'] !== 'application/json') refuse('response_json_schema needs response_mime_type.');
    if (tools.length > 0 && !third) refuse('Function calling with a response mime type of JSON is unsupported.');
    checkJsonSchema(json, 'responseJsonSchema');
  }
  if (third && ('presencePenalty' in config || 'frequencyPenalty' in config)) refuse('Penalty is not enabled.');
  const thinking = only(config['thinkingConfig'] ?? {}, 'thinkingConfig', [
    'includeThoughts',
    'thinkingBudget',
    'thinkingLevel',
  ]);
  if ('thinkingBudget' in thinking && 'thinkingLevel' in thinking) refuse('Only one of budget and level may be set.');
  if ('thinkingLevel' in thinking && !third) refuse('Thinking level is not supported for this model.');
}

export const gemini: Wire = {
  read({ url, json: body }): Ask {
    const third = isThird(url);
    only(body, 'request', TOP);
    const contents = readContents(body['contents'], third);
    const { tools, forced } = readTools(body, third);
    const config = only(body['generationConfig'] ?? {}, 'generationConfig', CONFIG);
    checkConfig(config, third, tools);
    const last = contents.at(-1)!;
    const results = resultsOf(last, contents.at(-2));
    const users = contents.filter(({ role, parts }) => role === 'user' && textOf(parts).trim() !== '');
    const inline = last.parts.find((part) => 'inlineData' in part)?.['inlineData'];
    const image = inline === undefined ? undefined : fields(inline, 'inlineData');
    const system = only(body['systemInstruction'] ?? { parts: [] }, 'systemInstruction', ['role', 'parts']);
    return {
      system: textOf(list(system['parts'], 'systemInstruction.parts').map((part) => fields(part, 'part'))),
      question: textOf(users.at(-1)?.parts ?? []),
      stream: url.includes(':streamGenerateContent'),
      tools,
      forced,
      results,
      json: config['responseMimeType'] === 'application/json',
      image: image && { mime: text(image['mimeType'], 'mimeType'), data: text(image['data'], 'data') },
      thinks: fields(config['thinkingConfig'] ?? {}, 'thinkingConfig')['includeThoughts'] === true,
      signed: contents.some(
        ({ role, parts }) => role === 'model' && parts.some((part) => part['thoughtSignature'] === GEMINI_SIGNATURE),
      ),
      rounds: contents.filter(({ parts }) => parts.some((part) => 'functionCall' in part)).length,
    };
  },

  reply: (answer, { url }) => response(partsOf(answer, url), answer, 'STOP', url),

  stream(answer, { url }) {
    const chunks = partsOf(answer, url).flatMap((part) =>
      typeof part['text'] === 'string' ? halves(part['text']).map((text) => ({ ...part, text })) : [part],
    );
    // The end has no text, and often the signature of what was said.
    const end = { text: '', ...(isThird(url) && answer.calls.length === 0 && { thoughtSignature: GEMINI_SIGNATURE }) };
    return [
      ...chunks.map((part) => frame(response([part], answer, undefined, url))),
      frame(response([end], answer, 'STOP', url)),
    ];
  },

  error(status, message, retryAfter = RETRY_AFTER) {
    const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfter}s` };
    const error = {
      code: status,
      message,
      status: STATUS[status] ?? 'UNKNOWN',
      ...(status === 429 && { details: [retry] }),
    };
    return { status, body: { error }, headers: {} };
  },

  streamError: frame({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
};

const STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function frame(value: object): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}

/** They are paired by their order alone: one in the wrong place would pass for the right one. */
function resultsOf(last: Content, before: Content | undefined): string[] | undefined {
  const results = last.parts
    .filter((part) => 'functionResponse' in part)
    .map((part) => JSON.stringify(fields(part['functionResponse'], 'functionResponse')['response']));
  if (results.length === 0 || !before) return undefined;
  return callsOf(before).map((call, index) => {
    const result = results[index] ?? '';
    if (!answersCall(result, call)) refuse(`${result} is put against the call for ${JSON.stringify(call.args)}.`);
    return /rain in \w+/.exec(result)?.[0] ?? result;
  });
}

function partsOf({ thought, text, calls }: Answer, url: string): Fields[] {
  const signed = isThird(url) || thought !== undefined;
  return [
    ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
    ...(text === '' ? [] : [{ text }]),
    // Only the first of several calls is signed.
    ...calls.map(({ name, args }, index) => ({
      functionCall: { name, args },
      ...(signed && index === 0 && { thoughtSignature: GEMINI_SIGNATURE }),
    })),
  ];
}

function response(
  parts: readonly Fields[],
  { thought, input = USAGE.input }: Answer,
  finish: string | undefined,
  url: string,
): object {
  const thoughts = thought === undefined ? 0 : USAGE.thought;
  return {
    responseId: 'resp-1',
    modelVersion: modelOf(url),
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(finish && { finishReason: finish }) }],
    usageMetadata: {
      promptTokenCount: input,
      ...(finish && {
        candidatesTokenCount: USAGE.output,
        ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
        totalTokenCount: input + USAGE.output + thoughts,
      }),
      trafficType: 'ON_DEMAND',
    },
  };
}
