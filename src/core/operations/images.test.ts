import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../kernel/package-root.ts';
import { images } from './openai.ts';

const body = (more: object) => ({ model: 'm', prompt: 'a cat', ...more });

describe('the schema of images requests', () => {
  it.each<[unknown, string | null, boolean]>([
    [{ model: 'm' }, 'prompt', true],
    [{ prompt: 'a cat' }, 'model', true],
    [[], null, false],
    [body({ prompt: ['a cat'] }), 'prompt', false],
    [body({ n: '2' }), 'n', false],
    [body({ n: 1.5 }), 'n', false],
    [body({ size: 1024 }), 'size', false],
    [body({ stream: 'true' }), 'stream', false],
    [body({ output_compression: '80' }), 'output_compression', false],
    [body({ labels: ['a'] }), 'labels', false],
    [body({ add_watermark: 'no' }), 'add_watermark', false],
    [body({ addWatermark: 'no' }), 'addWatermark', false],
    [body({ seed: 0.5 }), 'seed', false],
    [body({ safetySettings: [1] }), 'safetySettings[0]', false],
  ])('refuses %j and names the field', (value, param, missing) => {
    expect(images.validate(value)).toMatchObject({ param, missing });
  });

  it.each([
    ['only the required fields', body({})],
    ['nulls where OpenAI’s clients send them', body({ n: null, size: null, quality: null, stream: null, user: null })],
    ['unknown values', body({ size: '4096x4096', quality: 'ultra', style: 'new', output_format: 'avif' })],
    ['unknown fields', body({ x: 1, input_fidelity: 'high' })],
    ['numbers out of range, which the target checks', body({ n: 100, output_compression: -1 })],
  ])('accepts %s', (_, value) => {
    expect(images.validate(value)).toBeUndefined();
  });

  interface Recorded {
    readonly path: string;
    readonly request_body: unknown;
    readonly response_status: number;
  }
  const corpus = join(packageFile(''), '../shared/corpus/dev/openai-images.jsonl');
  it.skipIf(!existsSync(corpus))('accepts the recorded requests that OpenAI accepted', () => {
    const accepted = readFileSync(corpus, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Recorded)
      .filter(({ path, response_status: status }) => path.endsWith('/images/generations') && status === 200);
    expect(accepted.length).toBeGreaterThan(0);
    for (const { request_body: request } of accepted) expect(images.validate(request)).toBeUndefined();
  });
});
