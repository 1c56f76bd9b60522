import OpenAI from 'openai7';
import { ResponsesWS } from 'openai7/resources/responses/ws';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KEY } from '../../support/gateway.ts';
import { startPair } from '../../support/pair.ts';
import { anthropicEvents, sse } from '../../support/upstream.ts';

describe('the WebSocket client of OpenAI’s SDK', () => {
  it('gets a turn, continues it, and reads an error', async () => {
    const { gateway, upstream } = await startPair((_, res) => sse(res, anthropicEvents('Hel', 'lo')));
    const client = new OpenAI({ apiKey: KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const ws = new ResponsesWS(client);
    onTestFinished(() => ws.close());
    const errors: Error[] = [];
    ws.on('error', (error) => void errors.push(error));
    const turn = async (body: object): Promise<string> => {
      const completed = new Promise<string>((resolve) =>
        ws.once('response.completed', ({ response }) => resolve(response.id)),
      );
      ws.send({ type: 'response.create', model: '@claude/claude-sonnet-4-5', ...body });
      return completed;
    };
    const previous_response_id = await turn({ input: 'one', store: false });
    await turn({ input: 'two', store: false, previous_response_id });
    expect(upstream.seen[1]!.json['messages']).toHaveLength(3);
    expect(errors).toEqual([]);
    ws.send({ type: 'response.create', model: '@missing/x', input: 'hi' });
    await expect.poll(() => errors.map(String)).toEqual([expect.stringContaining('missing')]);
  });
});
