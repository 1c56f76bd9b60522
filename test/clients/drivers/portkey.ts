import { Portkey } from 'portkey-ai';
import { openaiDialogue, type Completions } from './openai-dialogue.ts';
import { NO_COUNTS, type Driver, type Place, type Trouble } from './driver.ts';

/** Portkey's SDK as its users have it: the gateway's parameters are in `x-portkey-` headers. */
type Settings = Omit<ConstructorParameters<typeof Portkey>[0], 'apiKey' | 'baseURL'>;

export const portkeyOf = ({ baseUrl, key }: Place, settings: Settings = {}): Portkey =>
  new Portkey({ apiKey: key, baseURL: `${baseUrl}/v1`, ...settings });

export const portkey: Driver = {
  name: 'portkey-ai',
  route: 'chat',
  done: 'stop',
  lacks: { ...NO_COUNTS, 'leaving before a reply': '`create` passes no signal on' },
  converse: (place, wish) => openaiDialogue(completionsOf(portkeyOf(place)), wish),
  trouble: portkeyTrouble,
  async embed(place, model, texts) {
    const { data } = await portkeyOf(place).embeddings.create({ model, input: [...texts], encoding_format: 'float' });
    return (data ?? []).map(({ embedding = [] }) => embedding);
  },
  async paint(place, model, n) {
    const { data } = await portkeyOf(place).images.generate({ model, prompt: 'A fjord', n });
    return (data ?? []).map(({ b64_json: image = '' }) => image);
  },
};

/** Its streams hand an error event to the application as if it were a chunk. */
async function* chunksOf(stream: AsyncIterable<object>): AsyncGenerator<object> {
  for await (const chunk of stream) {
    if ('error' in chunk) throw Object.assign(new Error(JSON.stringify(chunk.error)), chunk.error);
    yield chunk;
  }
}

/** `create` has no way to abort: `stream` has. */
function completionsOf({ chat: { completions } }: Portkey): Completions {
  // The SDK's own types are loose copies of OpenAI's, to whose bodies they amount.
  return {
    plain: async (body) => (await completions.create({ ...body, stream: false } as never)) as never,
    stream: async (body, { signal }) =>
      chunksOf(
        (await (signal
          ? completions.stream(body, undefined, { signal })
          : completions.create({
              ...body,
              stream: true,
              stream_options: { include_usage: true },
            } as never))) as AsyncIterable<object>,
      ) as never,
  };
}

function portkeyTrouble(error: unknown): Trouble {
  const reported = error as Error & {
    status?: number;
    type?: string;
    requestID?: string;
    error?: { error?: { type?: string }; type?: string };
    headers?: Headers | Record<string, string>;
  };
  const header = (name: string): string | undefined =>
    (reported.headers instanceof Headers ? reported.headers.get(name) : reported.headers?.[name]) ?? undefined;
  return {
    name: reported.constructor.name,
    status: reported.status,
    type: reported.type ?? reported.error?.error?.type ?? reported.error?.type,
    message: reported.message,
    requestId: reported.requestID ?? header('x-request-id') ?? header('x-gateway-request-id'),
    retryAfter: header('retry-after'),
  };
}
