import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLER_TOKEN, CLAUDE, FLASH, startHouse, type House, type Json } from '../http/details.testkit.ts';
import { KEY } from '../support/gateway.ts';
import { anthropicReply, geminiReply, openaiReply } from '../support/upstream.ts';
import { portkeyOf } from './drivers/portkey.ts';

/** What the gateway itself keeps for callers (files, prompts, the list of models), from every client that has calls for it. */

let folder: string;
let house: House;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-client-files-'));
  house = await startHouse({
    server: {
      header_prefixes: ['gateway', 'portkey'],
      files: { dir: folder, url: 'https://files.example.com/v1/files' },
    },
    gateway: { gpt: { provider: '@openai', override_params: { model: 'gpt-4.1' } } },
    prompts: {
      greeting: {
        labels: { production: 1 },
        versions: {
          1: {
            model: '@openai/gpt-4.1',
            parameters: { temperature: 0.2 },
            variables: { name: {} },
            messages: [{ role: 'user', content: 'Greet {{name}}.' }],
          },
        },
      },
    },
  });
});
afterAll(async () => {
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

const openai = () =>
  new OpenAI({
    baseURL: `${house.gateway.url}/v1`,
    apiKey: KEY,
    maxRetries: 0,
    defaultHeaders: { 'x-gateway-api-key': KEY, authorization: `Bearer ${CALLER_TOKEN}` },
  });
const anthropic = () => new Anthropic({ baseURL: house.gateway.url, apiKey: KEY, maxRetries: 0 });
const portkey = () => portkeyOf({ baseUrl: house.gateway.url, key: KEY }, { Authorization: `Bearer ${CALLER_TOKEN}` });

const TEXT = '%PDF-1.7 sales';
const pdf = (): File => new File([TEXT], 'report.pdf', { type: 'application/pdf' });

describe('files', () => {
  it('are uploaded, read, listed, named in a chat and deleted by openai', async () => {
    const { files, chat } = openai();
    const { id } = await files.create({ file: pdf(), purpose: 'user_data' });
    expect(await files.retrieve(id)).toMatchObject({ id, bytes: TEXT.length, filename: 'report.pdf' });
    expect(await (await files.content(id)).text()).toBe(TEXT);
    expect((await files.list({ purpose: 'user_data' })).data.map((file) => file.id)).toContain(id);
    house.answers(geminiReply('Sales grew.'));
    const reply = await chat.completions.create({
      model: FLASH,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Summarise' },
            { type: 'file', file: { file_id: id } },
          ],
        },
      ],
    });
    expect(reply.choices[0]?.message.content).toBe('Sales grew.');
    expect(house.seen().json['contents']).toMatchObject([
      { parts: [{}, { inlineData: { mimeType: 'application/pdf', data: btoa(TEXT) } }] },
    ]);
    expect(await files.delete(id)).toMatchObject({ id, deleted: true });
    await expect(files.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
  });

  it('are uploaded, read, listed, named in a message and deleted by @anthropic-ai/sdk, with its beta', async () => {
    const { files, messages } = anthropic().beta;
    const { id } = await files.upload({ file: pdf() });
    expect(await files.retrieveMetadata(id)).toMatchObject({ id, size_bytes: TEXT.length, filename: 'report.pdf' });
    expect(await (await files.download(id)).text()).toBe(TEXT);
    expect((await files.list()).data.map((file) => file.id)).toContain(id);
    house.answers(anthropicReply('Sales grew.'));
    const reply = await messages.create({
      model: CLAUDE,
      max_tokens: 100,
      betas: ['files-api-2025-04-14'],
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: id } }] }],
    });
    expect(reply.content).toMatchObject([{ type: 'text', text: 'Sales grew.' }]);
    expect(house.seen().headers['anthropic-beta']).toContain('files-api-2025-04-14');
    expect(house.seen().json['messages']).toMatchObject([
      { content: [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: btoa(TEXT) } }] },
    ]);
    expect(await files.delete(id)).toMatchObject({ id, type: 'file_deleted' });
    await expect(files.retrieveMetadata(id)).rejects.toMatchObject({ status: 404 });
  });

  it('are uploaded, named by their address and deleted by portkey-ai', async () => {
    const { files, chat } = portkey();
    const { id } = await files.create({ file: pdf(), purpose: 'user_data' });
    const url = `https://files.example.com/v1/files/${id}.pdf`;
    house.answers(geminiReply('Sales grew.'));
    const reply = await chat.completions.create({
      model: FLASH,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Summarise' },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    });
    expect(reply.choices?.[0]?.message?.content).toBe('Sales grew.');
    expect(house.seen().json['contents']).toMatchObject([{ parts: [{}, { inlineData: { data: btoa(TEXT) } }] }]);
    expect(await files.delete(id)).toMatchObject({ id, deleted: true });
  });
});

describe('prompts', () => {
  it('are completed and rendered by portkey-ai', async () => {
    const { prompts } = portkey();
    house.answers(openaiReply('Hello, Ada.'));
    // The SDK takes `promptID` out of the object that it gets.
    const ask = () => ({ promptID: 'greeting@production', variables: { name: 'Ada' } });
    const reply = (await prompts.completions.create(ask())) as unknown as { choices: { message: Json }[] };
    expect(reply.choices[0]?.message['content']).toBe('Hello, Ada.');
    const rendered = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Greet Ada.' }], temperature: 0.2 };
    expect(house.seen().json).toMatchObject(rendered);
    expect(await prompts.render({ ...ask(), max_tokens: 9 })).toMatchObject({
      success: true,
      data: { ...rendered, model: '@openai/gpt-4.1', max_tokens: 9 },
    });
  });

  it('are completed by openai’s own `post`', async () => {
    house.answers(openaiReply('Hello, Ada.'));
    const reply = await openai().post<OpenAI.ChatCompletion>('/prompts/greeting/completions', {
      body: { variables: { name: 'Ada' } },
    });
    expect(reply.choices[0]?.message.content).toBe('Hello, Ada.');
  });
});

describe('models', () => {
  const listed = '@openai/gpt-4.1';

  it('are listed by openai and portkey-ai in OpenAI’s shape', async () => {
    const { data } = await openai().models.list();
    expect(data.map(({ id, object }) => [id, object])).toContainEqual([listed, 'model']);
    expect(await openai().models.retrieve(listed)).toMatchObject({ id: listed, object: 'model' });
    expect(await portkey().models.list()).toMatchObject({
      object: 'list',
      data: expect.arrayContaining([expect.objectContaining({ id: listed })]),
    });
  });

  it('are listed by @anthropic-ai/sdk in Anthropic’s shape', async () => {
    const { data } = await anthropic().models.list();
    expect(data.find(({ id }) => id === listed)).toMatchObject({ type: 'model', display_name: 'gpt-4.1' });
    expect(await anthropic().models.retrieve(listed)).toMatchObject({ id: listed, type: 'model' });
  });
});
