import { createOpenAI } from '@ai-sdk/openai';
import { ChatOpenAI } from '@langchain/openai';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { openaiChunk, sse } from '../support/upstream.ts';

/** What the code of an application meets when a stream of the Responses API breaks after its first words. */

const model = '@openai/gpt-x';
const WORDS = 'The answer begins';

interface Reader {
  /** Reads the stream to its end and throws what the SDK reports. */
  read(baseURL: string, onText: (text: string) => void): Promise<void>;
}

const openaiOf = (baseURL: string): OpenAI => new OpenAI({ baseURL, apiKey: KEY, maxRetries: 0 });

const READERS: Readonly<Record<string, Reader>> = {
  openai: {
    async read(baseURL, onText) {
      const events = await openaiOf(baseURL).responses.create({ model, input: 'Hi', stream: true });
      for await (const event of events) if (event.type === 'response.output_text.delta') onText(event.delta);
    },
  },
  'openai, its helper': {
    async read(baseURL, onText) {
      const stream = openaiOf(baseURL).responses.stream({ model, input: 'Hi' });
      stream.on('response.output_text.delta', ({ delta }) => onText(delta));
      await stream.finalResponse();
    },
  },
  LangChain: {
    async read(baseURL, onText) {
      const chat = new ChatOpenAI({
        model,
        apiKey: KEY,
        maxRetries: 0,
        configuration: { baseURL },
        useResponsesApi: true,
        zdrEnabled: true,
      });
      for await (const chunk of await chat.stream('Hi')) onText(chunk.text);
    },
  },
  'AI SDK': {
    async read(baseURL, onText) {
      const provider = createOpenAI({ baseURL, apiKey: KEY });
      const errors: unknown[] = [];
      const { fullStream } = streamText({
        model: provider(model),
        prompt: 'Hi',
        maxRetries: 0,
        onError: () => {},
        providerOptions: { openai: { store: false } },
      });
      for await (const part of fullStream) {
        if (part.type === 'text-delta') onText(part.text);
        if (part.type === 'error') errors.push(part.error);
      }
      if (errors.length > 1) throw new Error(`${errors.length} errors`);
      if (errors.length > 0) throw new Error(String(Object(errors[0]).message));
    },
  },
};

describe('a stream of the Responses API that breaks', () => {
  it.each(Object.entries(READERS))('is an error to %s, after the words that came, and only once', async (_, reader) => {
    const { gateway } = await startPair((_request, res) =>
      sse(res, [openaiChunk({ role: 'assistant', content: WORDS }), null]),
    );
    let text = '';
    const failure: unknown = await reader
      .read(`${gateway.url}/v1`, (piece) => (text += piece))
      .then(() => undefined)
      .catch((error: unknown) => error);
    expect(text).toBe(WORDS);
    expect(failure).toBeInstanceOf(Error);
    expect((failure as Error).message).toContain('broke before the reply was complete');
  });
});
