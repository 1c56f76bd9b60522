import OpenAI, { APIError } from 'openai';
import { openaiDialogue } from './openai-dialogue.ts';
import { NO_COUNTS, type Driver, type Place } from './driver.ts';

const clientOf = ({ baseUrl, key }: Place): OpenAI =>
  new OpenAI({
    baseURL: `${baseUrl}/v1`,
    apiKey: key,
    maxRetries: 0,
    defaultHeaders: { 'x-gateway-strict-open-ai-compliance': 'false' },
  });

export const openai: Driver = {
  name: 'openai',
  route: 'chat',
  done: 'stop',
  lacks: NO_COUNTS,
  converse: (place, wish) => {
    const { completions } = clientOf(place).chat;
    return openaiDialogue(
      {
        plain: (body, options) => completions.create({ ...body, stream: false }, options),
        stream: (body, options) =>
          completions.create({ ...body, stream: true, stream_options: { include_usage: true } }, options),
      },
      wish,
    );
  },
  trouble(error) {
    if (!(error instanceof APIError)) throw error;
    return {
      name: error.constructor.name,
      status: error.status,
      type: error.type,
      message: error.message,
      requestId: error.requestID ?? undefined,
      retryAfter: error.headers?.get('retry-after') ?? undefined,
    };
  },
  async embed(place, model, texts) {
    const { data } = await clientOf(place).embeddings.create({ model, input: [...texts] });
    return data.map(({ embedding }) => embedding);
  },
  async paint(place, model, n) {
    const { data = [] } = await clientOf(place).images.generate({ model, prompt: 'A fjord', n });
    return data.map(({ b64_json: image = '' }) => image);
  },
};
