import { describe, expect, it } from 'vitest';
import { chatFields } from '../../../../formats/fields/field-tables.ts';
import { NO_TURNS, type Operation, type PromptDirectory, type RequestLimits } from '../../../../core/kernel/index.ts';
import { GatewayError } from '../../../../plugin/index.ts';
import { createExchange, runPlugin } from '../../../../plugin/testing/index.ts';
import prompts from './index.ts';

const FIELDS = { model: '@sim/m', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10, stop: ['x'] };

const operation = (id: string, task: 'generate' | undefined): Operation =>
  ({
    id,
    task,
    plugin: 'prompts',
    fields: chatFields,
    format: { contentType: { body: 'application/json' } },
    validate: (body: object) =>
      'messages' in body ? undefined : { message: '`messages` is required.', param: 'messages', missing: true },
  }) as unknown as Operation;

interface Asking {
  readonly id?: string;
  readonly json?: Record<string, unknown>;
  readonly fields?: Record<string, unknown>;
  readonly reserve?: RequestLimits['reserve'];
}

async function ask({ id = 'prompts.completions', json = {}, fields = FIELDS, reserve = () => undefined }: Asking) {
  const exchange = createExchange({
    operation: operation(id, id === 'prompts.completions' ? 'generate' : undefined),
    json,
    params: { prompt: 'a@2' },
  });
  const directory: PromptDirectory = {
    list: () => [{ id: 'a', description: undefined, labels: {}, versions: [] }],
    find: () => ({ id: 'a', version: 2, render: () => ({ fields, media: [] }) }),
  };
  const limits = { reserve } as unknown as RequestLimits;
  const { nextCalls } = await runPlugin(prompts, { exchange, needs: { prompts: directory, limits, turns: NO_TURNS } });
  const body: unknown = Buffer.isBuffer(exchange.reply?.body) ? JSON.parse(exchange.reply.body.toString()) : undefined;
  return { nextCalls, body, json: exchange.request.body?.json(), prompt: exchange.prompt };
}

describe('prompts', () => {
  it('writes the prompt below the fields of the request', async () => {
    const { nextCalls, json, prompt } = await ask({
      json: { variables: { a: 1 }, prompt_id: 'a', model: '@sim/own', stop: null },
    });
    expect(json).toEqual({ ...FIELDS, model: '@sim/own' });
    expect([nextCalls, prompt]).toEqual([1, { id: 'a', version: 2, media: [] }]);
  });

  it('leaves out a field that the request has under another name', async () => {
    for (const own of [{ max_completion_tokens: 5 }, { extra_body: { max_tokens: 5 } }])
      expect((await ask({ json: own })).json).not.toHaveProperty('max_tokens');
  });

  it('answers `render` itself', async () => {
    const { nextCalls, body } = await ask({ id: 'prompts.render', json: { temperature: 1 } });
    expect(nextCalls).toBe(0);
    expect(body).toEqual({ success: true, data: { ...FIELDS, temperature: 1 } });
  });

  it('answers the list itself', async () => {
    expect((await ask({ id: 'prompts.list' })).body).toMatchObject({
      object: 'list',
      data: [{ id: 'a' }],
    });
  });

  it('refuses a request that the prompt does not complete', async () => {
    await expect(ask({ fields: {} })).rejects.toMatchObject({ code: 'missing_required_parameter', param: 'messages' });
  });

  it('reserves room for the rendered texts', async () => {
    const full = new GatewayError('busy', 'Full.');
    await expect(ask({ reserve: (_, bytes) => (bytes > 50 ? full : undefined) })).rejects.toBe(full);
  });

  it('passes other operations on', async () => {
    const exchange = createExchange({ operation: { id: 'chat.completions' } as Operation, json: { variables: {} } });
    const needs = { prompts: {} as PromptDirectory, limits: {} as RequestLimits, turns: NO_TURNS };
    expect((await runPlugin(prompts, { exchange, needs })).nextCalls).toBe(1);
    expect(exchange.request.body?.json()).toEqual({ variables: {} });
  });
});
