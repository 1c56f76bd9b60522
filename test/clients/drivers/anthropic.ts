import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { PNG, rain, reportSchema, SYSTEM, weatherTool } from '../words.ts';
import { MAX_ROUNDS, MAX_TOKENS, ONLY_MESSAGES, type Driver, type Outcome, type Place, type Wish } from './driver.ts';

const clientOf = ({ baseUrl, key }: Place): Anthropic =>
  new Anthropic({ baseURL: baseUrl, apiKey: key, maxRetries: 0 });

export const anthropic: Driver = {
  name: '@anthropic-ai/sdk',
  route: 'messages',
  done: 'end_turn',
  lacks: ONLY_MESSAGES,
  async converse(place, wish) {
    const { messages: api } = clientOf(place);
    const messages: Anthropic.MessageParam[] = [opening(wish)];
    const turns: Anthropic.Message[] = [];
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const body = { ...bodyFor(wish), messages };
      const options = wish.signal ? { signal: wish.signal } : {};
      const turn = wish.stream
        ? await api
            .stream(body, options)
            .on('text', () => wish.onText?.())
            .finalMessage()
        : await api.create(body, options);
      turns.push(turn);
      const results = resultsFor(turn);
      if (results.length === 0) break;
      messages.push({ role: 'assistant', content: turn.content }, { role: 'user', content: results });
    }
    return outcomeOf(turns);
  },
  trouble(error) {
    if (!(error instanceof APIError)) throw error;
    return {
      name: error.constructor.name,
      status: error.status,
      type: error.type ?? undefined,
      message: error.message,
      requestId: error.requestID ?? undefined,
      retryAfter: error.headers?.get('retry-after') ?? undefined,
    };
  },
  async count(place, model, question) {
    const counted = await clientOf(place).messages.countTokens({
      model,
      system: SYSTEM,
      messages: [{ role: 'user', content: question }],
      tools: [toolOf()],
    });
    return counted.input_tokens;
  },
};

const opening = ({ question, image }: Wish): Anthropic.MessageParam => ({
  role: 'user',
  content: [
    { type: 'text', text: question },
    ...(image
      ? [{ type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: PNG } }]
      : []),
  ],
});

const toolOf = (): Anthropic.Tool => {
  const { name, description, schema } = weatherTool;
  return { name, description, input_schema: { ...schema, required: [...schema.required] } };
};

const bodyFor = ({ model, tools, thinking, report }: Wish) => ({
  model,
  max_tokens: MAX_TOKENS,
  system: SYSTEM,
  ...(tools && { tools: [toolOf()] }),
  ...(thinking && { thinking: { type: 'enabled' as const, budget_tokens: 1024 } }),
  ...(report && { output_config: { format: { type: 'json_schema' as const, schema: reportSchema } } }),
});

/** The last call is answered first: no application owes the gateway an order. */
const resultsFor = ({ content }: Anthropic.Message): Anthropic.ToolResultBlockParam[] =>
  content
    .filter((block) => block.type === 'tool_use')
    .map(({ id, input }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: rain((input as { city: string }).city),
    }))
    .toReversed();

function outcomeOf(turns: readonly Anthropic.Message[]): Outcome {
  const last = turns.at(-1);
  const blocks = turns.flatMap(({ content }) => content);
  return {
    text: last?.content.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? '',
    thoughts: blocks.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: blocks
      .filter((block) => block.type === 'tool_use')
      .map(({ name, input }) => ({ name, args: input as Record<string, unknown> })),
    finish: last?.stop_reason ?? undefined,
    usage: { input: last?.usage.input_tokens, output: last?.usage.output_tokens },
  };
}
