import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import {
  AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type AIMessage,
  type BaseMessage,
  type UsageMetadata,
} from '@langchain/core/messages';
import type { Runnable } from '@langchain/core/runnables';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
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

/** LangChain's chat models: one conversation by hand for both, as agents without a framework are written. */

const messageTool = {
  type: 'function' as const,
  function: { name: weatherTool.name, description: weatherTool.description, parameters: weatherTool.schema },
};

async function converse(model: BaseChatModel, wish: Wish): Promise<Outcome> {
  if (wish.report) return report(model, wish);
  const bound: Runnable<BaseMessage[], AIMessage | AIMessageChunk> =
    wish.tools && model.bindTools ? model.bindTools([messageTool]) : model;
  const messages: BaseMessage[] = opening(wish);
  const turns: (AIMessage | AIMessageChunk)[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const turn = await (wish.stream ? folded(bound, messages, wish) : bound.invoke(messages, optionsOf(wish)));
    turns.push(turn);
    const calls = turn.tool_calls ?? [];
    if (calls.length === 0) break;
    const results = calls.map(
      ({ id = '', args }) => new ToolMessage({ tool_call_id: id, content: rain(args['city']) }),
    );
    messages.push(turn, ...results.toReversed());
  }
  return outcomeOf(turns);
}

const optionsOf = ({ signal }: Wish) => (signal ? { signal } : {});

async function folded(
  model: Runnable<BaseMessage[], AIMessage | AIMessageChunk>,
  messages: BaseMessage[],
  wish: Wish,
): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined;
  for await (const chunk of await model.stream(messages, optionsOf(wish))) {
    if (!(chunk instanceof AIMessageChunk)) throw new Error('A stream of something else than chunks.');
    whole = whole ? whole.concat(chunk) : chunk;
    if (chunk.text !== '') wish.onText?.();
  }
  if (!whole) throw new Error('A stream without chunks.');
  return whole;
}

async function report(model: BaseChatModel, wish: Wish): Promise<Outcome> {
  const structured = model.withStructuredOutput({ ...reportSchema }, { name: 'report' });
  const value = await structured.invoke(opening(wish), optionsOf(wish));
  const none = { input: undefined, output: undefined };
  return { text: JSON.stringify(value), thoughts: '', calls: [], finish: undefined, usage: none };
}

const opening = ({ question, image }: Wish): BaseMessage[] => [
  new SystemMessage(SYSTEM),
  new HumanMessage({
    content: image
      ? [
          { type: 'text', text: question },
          { type: 'image', source_type: 'base64', mime_type: 'image/png', data: PNG },
        ]
      : question,
  }),
];

function outcomeOf(turns: readonly (AIMessage | AIMessageChunk)[]): Outcome {
  const last = turns.at(-1);
  // TypeScript finds no common type in the union of a message and its chunk.
  const usage = last?.usage_metadata as UsageMetadata | undefined;
  const finish: unknown =
    last?.response_metadata['finish_reason'] ??
    last?.response_metadata['stop_reason'] ??
    last?.additional_kwargs['stop_reason'];
  return {
    text: last?.text ?? '',
    thoughts: turns.flatMap(thoughtsOf).join(''),
    calls: turns.flatMap(({ tool_calls: calls = [] }) => calls.map(({ name, args }) => ({ name, args }))),
    finish: typeof finish === 'string' ? finish : undefined,
    usage: { input: usage?.input_tokens, output: usage?.output_tokens },
  };
}

const thoughtsOf = ({ content }: AIMessage | AIMessageChunk): string[] =>
  typeof content === 'string'
    ? []
    : content.map((block) => ('thinking' in block && typeof block.thinking === 'string' ? block.thinking : ''));

/** Their SDKs' own errors pass through, some with more beside. */
function trouble(error: unknown): Trouble {
  const reported = error as Partial<Trouble> & Error & { requestID?: string | null; headers?: Headers };
  return {
    name: error instanceof Error ? error.constructor.name : 'object',
    status: reported.status,
    type: reported.type,
    message: reported.message,
    requestId: reported.requestID ?? undefined,
    retryAfter: reported.headers?.get('retry-after') ?? undefined,
  };
}

const openaiOf = ({ baseUrl, key }: Place, { model, thinking }: Wish): ChatOpenAI =>
  new ChatOpenAI({
    model,
    apiKey: key,
    maxTokens: MAX_TOKENS,
    maxRetries: 0,
    streamUsage: true,
    configuration: { baseURL: `${baseUrl}/v1` },
    ...(thinking && { modelKwargs: { reasoning_effort: 'low' } }),
  });

const anthropicOf = ({ baseUrl, key }: Place, { model, thinking }: Wish): ChatAnthropic =>
  new ChatAnthropic({
    model,
    apiKey: key,
    anthropicApiUrl: baseUrl,
    maxTokens: MAX_TOKENS,
    maxRetries: 0,
    ...(thinking && { thinking: { type: 'enabled' as const, budget_tokens: 1024 } }),
  });

export const langchainOpenai: Driver = {
  name: '@langchain/openai',
  route: 'chat',
  done: 'stop',
  lacks: {
    ...NO_COUNTS,
    thoughts: 'its messages keep no fields that OpenAI has not',
    images: 'DallEAPIWrapper is a tool for agents, not a client',
  },
  converse: (place, wish) => converse(openaiOf(place, wish), wish),
  trouble,
  embed: ({ baseUrl, key }, model, texts) =>
    new OpenAIEmbeddings({
      model,
      apiKey: key,
      maxRetries: 0,
      configuration: { baseURL: `${baseUrl}/v1` },
    }).embedDocuments([...texts]),
};

export const langchainAnthropic: Driver = {
  name: '@langchain/anthropic',
  route: 'messages',
  done: 'end_turn',
  lacks: {
    ...ONLY_MESSAGES,
    'token counts': 'it estimates them by itself',
    'usage of streams': 'it adds up what the first and the last event say',
  },
  converse: (place, wish) => converse(anthropicOf(place, wish), wish),
  trouble,
};
