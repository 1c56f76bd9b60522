/** The fields of a question, as they are typed: `tools` and `schema` are JSON texts. */
const FIELDS = ['as', 'config', 'system', 'text', 'image', 'tools', 'schema', 'temperature', 'maxTokens'] as const;
/** A question of a person, in the form of the Chat Completions API: the path translates it for every provider. */
export type PlayAsk = Readonly<Record<(typeof FIELDS)[number], string>>;
export const NO_ASK = Object.fromEntries(FIELDS.map((name) => [name, ''])) as PlayAsk;

/** The page reports a text that is no JSON before it sends anything. */
function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} is not JSON.`);
  }
}

export function bodyOf(ask: PlayAsk, model: string): Record<string, unknown> {
  const content =
    ask.image === ''
      ? ask.text
      : [
          { type: 'text', text: ask.text },
          { type: 'image_url', image_url: { url: ask.image } },
        ];
  return {
    ...(model !== '' && { model }),
    messages: [...(ask.system === '' ? [] : [{ role: 'system', content: ask.system }]), { role: 'user', content }],
    stream: true,
    stream_options: { include_usage: true },
    ...(ask.tools !== '' && { tools: parse(ask.tools, 'The list of tools') }),
    ...(ask.schema !== '' && {
      response_format: { type: 'json_schema', json_schema: { name: 'reply', schema: parse(ask.schema, 'The schema') } },
    }),
    ...(ask.temperature !== '' && { temperature: Number(ask.temperature) }),
    ...(ask.maxTokens !== '' && { max_tokens: Number(ask.maxTokens) }),
  };
}

export const callOf = (ask: PlayAsk, model: string): object => ({
  as: ask.as,
  path: '/v1/chat/completions',
  ...(ask.config !== '' && { headers: { 'x-gateway-config': ask.config } }),
  body: bodyOf(ask, model),
});

export interface PlayReply {
  readonly text: string;
  readonly thinking: string;
  readonly tools: readonly { readonly name: string; readonly input: string }[];
  readonly tokens: string;
  readonly finish: string;
}

export const NO_REPLY: PlayReply = { text: '', thinking: '', tools: [], tokens: '', finish: '' };

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null;
  readonly error?: { readonly message?: string };
}

type ToolPieces = NonNullable<NonNullable<NonNullable<Chunk['choices']>[number]['delta']>['tool_calls']>;

/** A tool call comes in pieces, each with its place among the calls. */
function withTools(known: PlayReply['tools'], pieces: ToolPieces = []): PlayReply['tools'] {
  const tools = [...known];
  for (const { index, function: of } of pieces) {
    const { name, input } = tools[index] ?? { name: '', input: '' };
    tools[index] = { name: name + (of?.name ?? ''), input: input + (of?.arguments ?? '') };
  }
  return tools;
}

/** The reply with one more event of the stream. Throws what the stream ended with. */
export function withChunk(reply: PlayReply, data: string): PlayReply {
  if (data === '' || data === '[DONE]') return reply;
  // Bytes of the gateway's own format.
  const { choices = [], usage, error } = JSON.parse(data) as Chunk;
  if (error) throw new Error(error.message ?? 'The stream ended with an error.');
  const [{ delta, finish_reason: finish } = {}] = choices;
  return {
    text: reply.text + (delta?.content ?? ''),
    thinking: reply.thinking + (delta?.reasoning_content ?? ''),
    tools: withTools(reply.tools, delta?.tool_calls),
    tokens: usage ? `${usage.prompt_tokens ?? 0} → ${usage.completion_tokens ?? 0}` : reply.tokens,
    finish: finish ?? reply.finish,
  };
}
