import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  embedMany,
  generateImage,
  generateText,
  jsonSchema,
  Output,
  stepCountIs,
  streamText,
  tool,
  type EmbeddingModel,
  type ImageModel,
  type LanguageModel,
  type ModelMessage,
} from 'ai';
import { PNG, rain, reportSchema, SYSTEM, weatherTool } from '../words.ts';
import {
  MAX_ROUNDS,
  MAX_TOKENS,
  NO_COUNTS,
  ONLY_MESSAGES,
  type Driver,
  type Outcome,
  type Place,
  type Trouble,
  type Wish,
} from './driver.ts';

/** Vercel's AI SDK runs the loop of tools itself; its providers write the requests. */

const weather = tool({
  description: weatherTool.description,
  inputSchema: jsonSchema<{ city: string }>({ ...weatherTool.schema, required: [...weatherTool.schema.required] }),
  execute: ({ city }) => Promise.resolve(rain(city)),
});
const report = Output.object({
  name: 'report',
  schema: jsonSchema<{ city: string; celsius: number }>({ ...reportSchema, required: [...reportSchema.required] }),
});

const THINKING = {
  openai: { reasoningEffort: 'low', forceReasoning: true },
  gatehouse: { reasoningEffort: 'low' },
  anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
};

function callFor(model: LanguageModel, wish: Wish) {
  const content: ModelMessage & { role: 'user' } = {
    role: 'user',
    content: [
      { type: 'text', text: wish.question },
      ...(wish.image ? [{ type: 'image' as const, image: PNG, mediaType: 'image/png' }] : []),
    ],
  };
  return {
    model,
    system: SYSTEM,
    messages: [content],
    maxOutputTokens: MAX_TOKENS,
    maxRetries: 0,
    stopWhen: stepCountIs(MAX_ROUNDS),
    ...(wish.tools && { tools: { weather } }),
    ...(wish.thinking && { providerOptions: THINKING }),
    ...(wish.signal && { abortSignal: wish.signal }),
  };
}

async function converse(model: LanguageModel, wish: Wish): Promise<Outcome> {
  const call = callFor(model, wish);
  if (wish.report) {
    const { output, steps, finishReason, usage } = await generateText({ ...call, output: report });
    return outcomeOf({ text: JSON.stringify(output), steps, finishReason, usage });
  }
  if (!wish.stream) return outcomeOf(await generateText(call));
  const stream = streamText({ ...call, onError: () => {} });
  for await (const part of stream.fullStream) {
    if (part.type === 'text-delta') wish.onText?.();
    if (part.type === 'error') throw part.error;
    if (part.type === 'abort') throw new DOMException('The stream was aborted.', 'AbortError');
  }
  const [steps, finishReason, usage] = await Promise.all([stream.steps, stream.finishReason, stream.usage]);
  return outcomeOf({ text: steps.at(-1)?.text ?? '', steps, finishReason, usage });
}

interface Result {
  readonly text: string;
  readonly steps: readonly {
    readonly reasoningText: string | undefined;
    readonly toolCalls: readonly { readonly toolName: string; readonly input: unknown }[];
  }[];
  readonly finishReason: string;
  readonly usage: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined };
}

const outcomeOf = ({ text, steps, finishReason, usage }: Result): Outcome => ({
  text,
  thoughts: steps.map(({ reasoningText = '' }) => reasoningText).join(''),
  calls: steps.flatMap(({ toolCalls }) =>
    toolCalls.map(({ toolName, input }) => ({ name: toolName, args: input as Record<string, unknown> })),
  ),
  finish: finishReason,
  usage: { input: usage.inputTokens, output: usage.outputTokens },
});

/** Failures before a reply are APICallErrors; a failure inside a stream has the form in which the provider has parsed it. */
function trouble(error: unknown): Trouble {
  if (!APICallError.isInstance(error)) return streamTrouble(error);
  const { data, responseHeaders: headers = {}, statusCode } = error;
  return {
    name: error.name,
    status: statusCode,
    type: (data as { error?: { type?: string } } | undefined)?.error?.type,
    message: error.message,
    requestId: headers['request-id'] ?? headers['x-request-id'] ?? headers['x-gateway-request-id'],
    retryAfter: headers['retry-after'],
  };
}

function streamTrouble(error: unknown): Trouble {
  const reported = error as { name?: string; type?: string; message?: string };
  const nothing = { status: undefined, requestId: undefined, retryAfter: undefined };
  return {
    ...nothing,
    name: reported.name ?? 'object',
    type: reported.type,
    message: reported.message ?? String(error),
  };
}

interface Models {
  language(place: Place, model: string): LanguageModel;
  embedding?(place: Place, model: string): EmbeddingModel;
  image?(place: Place, model: string): ImageModel;
}

function driverOf(kind: Pick<Driver, 'name' | 'route' | 'lacks'>, models: Models): Driver {
  const { embedding, image } = models;
  return {
    ...kind,
    done: 'stop',
    converse: (place, wish) => converse(models.language(place, wish.model), wish),
    trouble,
    ...(embedding && {
      embed: async (place, model, texts) =>
        (await embedMany({ model: embedding(place, model), values: [...texts], maxRetries: 0 })).embeddings,
    }),
    ...(image && {
      paint: async (place, model, n) => {
        const { images } = await generateImage({ model: image(place, model), prompt: 'A fjord', n, maxRetries: 0 });
        return images.map(({ base64 }) => base64);
      },
    }),
  };
}

const openaiOf = ({ baseUrl, key }: Place) => createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key });
const compatibleOf = ({ baseUrl, key }: Place) =>
  createOpenAICompatible({
    name: 'gatehouse',
    baseURL: `${baseUrl}/v1`,
    apiKey: key,
    includeUsage: true,
    supportsStructuredOutputs: true,
    headers: { 'x-gateway-strict-open-ai-compliance': 'false' },
  });
const anthropicOf = ({ baseUrl, key }: Place) => createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey: key });

export const aiOpenai = driverOf(
  {
    name: 'ai with @ai-sdk/openai',
    route: 'chat',
    lacks: { ...NO_COUNTS, thoughts: 'it reads and writes OpenAI’s own fields only' },
  },
  {
    language: (place, model) => openaiOf(place).chat(model),
    embedding: (place, model) => openaiOf(place).embedding(model),
    image: (place, model) => openaiOf(place).image(model),
  },
);

export const aiCompatible = driverOf(
  {
    name: 'ai with @ai-sdk/openai-compatible',
    route: 'chat',
    lacks: { ...NO_COUNTS, thoughts: 'it keeps `reasoning_content`, but no signatures other than `extra_content`' },
  },
  {
    language: (place, model) => compatibleOf(place).chatModel(model),
    embedding: (place, model) => compatibleOf(place).embeddingModel(model),
    image: (place, model) => compatibleOf(place).imageModel(model),
  },
);

export const aiAnthropic = driverOf(
  {
    name: 'ai with @ai-sdk/anthropic',
    route: 'messages',
    lacks: { ...ONLY_MESSAGES, 'token counts': 'it has no call for them' },
  },
  { language: (place, model) => anthropicOf(place).chat(model) },
);
