import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { upload } from '../support/files.ts';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { Fleet, scrape, total, type FleetSettings } from './workers.testkit.ts';

/** Prompts, the semantic cache and stored files with several workers. */

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A request on a connection of its own: the primary gives connections to the workers in turn. */
function send(url: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, {
      method: body ? 'POST' : 'GET',
      agent: false,
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
    });
    sent.on('error', reject).on('response', (response) => {
      text(response).then(
        (body) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: JSON.parse(body) as Answer['body'],
          }),
        reject,
      );
    });
    sent.end(body && JSON.stringify(body));
  });
}

/** Answers with the last message, and with equal vectors for all texts. */
async function start(settings: Omit<FleetSettings, 'upstream'>) {
  const upstream: ScriptedUpstream = await startUpstream(({ json: body }, res) => {
    const { input, messages } = body as { input?: readonly string[]; messages?: readonly { content: string }[] };
    if (input) return json(res, { data: input.map((_, index) => ({ index, embedding: [1, 0] })) });
    return json(res, openaiReply(`${messages?.at(-1)?.content}`));
  });
  ended.push(() => upstream.close());
  const fleet = new Fleet({ upstream: upstream.url, ...settings });
  ended.push(() => fleet.end());
  return { upstream, fleet, ...(await fleet.listens()) };
}

const workersOf = (fleet: Fleet): Set<unknown> =>
  new Set(fleet.lines.flatMap(({ msg, worker }) => (msg === 'request completed' ? [worker] : [])));

const times = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work));

const greeting = (words: string) => ({
  versions: { 1: { model: '@own/m', variables: { name: {} }, text: `${words} {{name}}` } },
});

describe('with --workers 2', () => {
  it('prompts are the same in both workers, also after a change of their file', async () => {
    const { fleet, url, statusUrl } = await start({ prompts: { greeting: greeting('Hello') } });
    const variables = { variables: { name: 'Ada' } };
    const render = () => send(url, '/v1/prompts/greeting/render', variables);
    const complete = () => send(url, '/v1/prompts/greeting/completions', variables);
    const textOf = ({ body }: Answer): unknown => (body['data'] as { messages: { content: unknown }[] }).messages[0];
    expect((await times(4, render)).map(textOf)).toEqual(
      Array.from({ length: 4 }, () => ({ role: 'user', content: 'Hello Ada' })),
    );
    const answers = await times(4, complete);
    expect(answers.map(({ body, headers }) => [body['choices'], headers['x-gateway-prompt']])).toEqual(
      Array.from({ length: 4 }, () => [
        [expect.objectContaining({ message: { role: 'assistant', content: 'Hello Ada' } })],
        'greeting@1',
      ]),
    );
    await until(() => workersOf(fleet).size === 2, 'both workers have served');
    const metrics = await scrape(statusUrl);
    expect(total(metrics, 'gatehouse_prompt_requests_total{prompt="greeting",version="1",outcome="success"}')).toBe(8);

    fleet.write('prompts/greeting.yaml', greeting('Good morning'));
    // Workers get the change one after another.
    await expect
      .poll(async () => (await times(4, render)).map(textOf), { timeout: 60_000 })
      .toEqual(Array.from({ length: 4 }, () => ({ role: 'user', content: 'Good morning Ada' })));
  });

  it('each worker has a semantic cache of its own', async () => {
    const { upstream, url, statusUrl } = await start({
      gateway: { near: { provider: '@own', cache: { mode: 'semantic', embeddings: '@own/text-embedding-3-small' } } },
    });
    const ask = (content: string) => () =>
      send(
        url,
        '/v1/chat/completions',
        { model: 'm', messages: [{ role: 'user', content }] },
        { 'x-gateway-config': 'near' },
      );
    const statuses = async (count: number, content: string) => {
      const seen: unknown[] = [];
      for (let index = 0; index < count; index += 1)
        seen.push((await ask(content)()).headers['x-gateway-cache-status']);
      return seen;
    };
    expect((await statuses(6, 'How do I change my password?')).toSorted()).toEqual([
      ...Array.from({ length: 4 }, () => 'HIT'),
      'MISS',
      'MISS',
    ]);
    expect(await statuses(4, 'how do I reset my password')).toEqual(
      Array.from({ length: 4 }, () => expect.stringMatching(/^SEMANTIC_HIT$/) as string),
    );
    expect(upstream.seen.filter(({ url: path }) => path.endsWith('/chat/completions'))).toHaveLength(2);
    expect(total(await scrape(statusUrl), 'gatehouse_cache_requests_total{mode="semantic",result="miss"}')).toBe(2);
  });

  it('a file that one worker has stored is there for the other, and counts once', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-worker-files-'));
    ended.push(() => rmSync(dir, { recursive: true, force: true }));
    const { fleet, url, statusUrl } = await start({ server: { files: { dir } } });
    const { status, body } = await upload({ url }, { file: 'hello', filename: 'a.txt' });
    expect(status).toBe(200);
    const found = await times(6, () => send(url, `/v1/files/${body.id}`));
    expect(found.map((answer) => [answer.status, answer.body['bytes']])).toEqual(
      Array.from({ length: 6 }, () => [200, 5]),
    );
    await until(() => workersOf(fleet).size === 2, 'both workers have served');
    const metrics = await scrape(statusUrl);
    expect([metrics.get('gatehouse_stored_files'), metrics.get('gatehouse_stored_file_bytes')]).toEqual([1, 5]);
    expect(metrics.get('gatehouse_file_uploads_total{outcome="success"}')).toBe(1);
  });
});
