import type { SeenRequest } from '../../support/upstream.ts';
import { PNG, USAGE } from '../words.ts';
import { readCount } from './anthropic.ts';
import { refuse } from './ask.ts';
import { readContents, readTools } from './gemini.ts';
import { fields, list, only, text, words, type Fields } from './strict.ts';

/**
 * Operations other than a conversation: embeddings, images, counts (docs/protocols/embeddings.md#openai-request,
 * docs/protocols/images.md#openai-request, docs/protocols/anthropic-messages.md#count-tokens, docs/protocols/gemini.md#count-tokens).
 */

/** Exact in float32, and another one for each text. */
export const vectorOf = (content: string): readonly number[] => [content.length, 0.5, -0.25];
export const COUNT = 42;

type Task = (request: SeenRequest) => object;

const ROUTES: readonly (readonly [RegExp, Task])[] = [
  [/^\/v1\/embeddings$/, openaiEmbeddings],
  [/^\/v1\/images\/generations$/, openaiImages],
  [/\/models\/text-embedding-[^:]+:predict$/, predictEmbeddings],
  [/\/models\/gemini-embedding-2[^:]*:embedContent$/, embedContent],
  [/\/models\/imagen-[^:]+:predict$/, imagen],
  [/\/models\/gemini-[^:]+-image[^:]*:generateContent$/, geminiImage],
  [/\/models\/gemini-[^:]+:countTokens$/, geminiCount],
  [/^\/v1\/messages\/count_tokens(?:\?|$)/, claudeCount],
  [/\/models\/count-tokens:rawPredict$/, claudeCount],
];

export const taskOf = (url: string): Task | undefined => ROUTES.find(([pattern]) => pattern.test(url))?.[1];

function openaiEmbeddings({ json: body }: SeenRequest): object {
  const {
    input,
    encoding_format: format,
    model,
  } = only(body, 'request', words('model input encoding_format dimensions user'));
  const texts = (typeof input === 'string' ? [input] : list(input, 'input')).map((each) => text(each, 'input[]'));
  return {
    object: 'list',
    model,
    data: texts.map((each, index) => ({ object: 'embedding', index, embedding: encode(vectorOf(each), format) })),
    usage: { prompt_tokens: USAGE.input, total_tokens: USAGE.input },
  };
}

const encode = (vector: readonly number[], format: unknown): readonly number[] | string =>
  format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector;

function predictEmbeddings({ json: body }: SeenRequest): object {
  only(body, 'request', ['instances', 'parameters']);
  only(body['parameters'] ?? {}, 'parameters', ['autoTruncate', 'outputDimensionality']);
  const instances = list(body['instances'], 'instances').map((instance) =>
    text(only(instance, 'instances[]', ['content', 'task_type', 'title'])['content'], 'content'),
  );
  return {
    predictions: instances.map((each) => ({
      embeddings: {
        values: vectorOf(each),
        statistics: { truncated: false, token_count: USAGE.input / instances.length },
      },
    })),
    metadata: { billableCharacterCount: 1 },
  };
}

function embedContent({ json: body }: SeenRequest): object {
  only(body, 'request', ['content', 'embedContentConfig']);
  const parts = list(only(body['content'], 'content', ['role', 'parts'])['parts'], 'content.parts');
  const content = text(only(parts[0], 'parts[0]', ['text'])['text'], 'text');
  return {
    embedding: { values: vectorOf(content) },
    usageMetadata: { promptTokenCount: USAGE.input },
    truncated: false,
  };
}

function openaiImages({ json: body }: SeenRequest): object {
  only(body, 'request', ['model', 'prompt', 'n', 'size', 'quality', 'response_format', 'output_format', 'user']);
  const prompt = text(body['prompt'], 'prompt');
  return { created: 1_795_132_800, data: images(body['n']).map((b64) => ({ b64_json: b64, revised_prompt: prompt })) };
}

const images = (count: unknown): string[] => Array.from({ length: Number(count ?? 1) }, () => PNG);

function imagen({ json: body }: SeenRequest): object {
  only(body, 'request', ['instances', 'parameters', 'labels']);
  const prompt = text(only(list(body['instances'], 'instances')[0], 'instances[0]', ['prompt'])['prompt'], 'prompt');
  const parameters = fields(body['parameters'] ?? {}, 'parameters');
  if (parameters['includeRaiReason'] !== true) refuse('Nobody would know why an image is missing.');
  return {
    predictions: images(parameters['sampleCount']).map((data) => ({
      bytesBase64Encoded: data,
      mimeType: 'image/png',
      prompt,
    })),
  };
}

function geminiImage({ json: body }: SeenRequest): object {
  readContents(body['contents'], false);
  const { responseModalities } = fields(body['generationConfig'], 'generationConfig');
  if (!list(responseModalities, 'responseModalities').includes('IMAGE')) refuse('responseModalities must have IMAGE.');
  return {
    candidates: [
      {
        index: 0,
        finishReason: 'STOP',
        content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] },
      },
    ],
    usageMetadata: { promptTokenCount: USAGE.input, candidatesTokenCount: USAGE.output, totalTokenCount: 18 },
  };
}

function geminiCount({ json: body, url }: SeenRequest): object {
  only(body, 'request', ['contents', 'systemInstruction', 'tools', 'generationConfig']);
  const third = url.includes('gemini-3');
  readContents(body['contents'], third);
  readTools(withoutConfig(body), third);
  return { totalTokens: COUNT };
}

const withoutConfig = ({ tools }: Fields): Fields => (tools === undefined ? {} : { tools });

function claudeCount(request: SeenRequest): object {
  readCount(request);
  return { input_tokens: COUNT };
}
