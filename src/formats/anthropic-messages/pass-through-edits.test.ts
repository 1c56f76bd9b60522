import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { requestTarget } from '../laws.testkit.ts';
import { anthropicMessages as format } from './index.ts';

const view = (body: JsonObject) => ({ has: (key: string) => key in body, value: (key: string) => body[key] });

describe('passThroughEdits', () => {
  it('puts the target’s model into a body for the direct API, if it is another', () => {
    const target = requestTarget({ model: 'claude-x' });
    expect(format.passThroughEdits(view({ model: 'claude-x' }), target)).toEqual([]);
    expect(format.passThroughEdits(view({ model: '@a/claude-x' }), target)).toEqual([
      { path: ['model'], value: 'claude-x', source: 'gateway' },
    ]);
  });

  it('takes the model out of a body for Vertex and puts the version in, unless the caller has', () => {
    const target = requestTarget({ model: 'claude-x', host: 'vertex' });
    const model = { path: ['model'], value: undefined, source: 'gateway' };
    expect(format.passThroughEdits(view({ model: 'm' }), target)).toEqual([
      model,
      { path: ['anthropic_version'], value: 'vertex-2023-10-16', source: 'gateway' },
    ]);
    expect(format.passThroughEdits(view({ model: 'm', anthropic_version: 'v' }), target)).toEqual([model]);
  });

  it('leaves the model in a body for Vertex whose path has no place for it', () => {
    const target = requestTarget({ model: 'claude-x', host: 'vertex', modelInBody: true });
    expect(format.passThroughEdits(view({ model: 'anthropic.claude-x', anthropic_version: 'v' }), target)).toEqual([
      { path: ['model'], value: 'claude-x', source: 'gateway' },
    ]);
    expect(format.passThroughEdits(view({ model: 'claude-x', anthropic_version: 'v' }), target)).toEqual([]);
  });
});
