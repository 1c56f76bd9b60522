import { describe, expect, it } from 'vitest';
import { openaiResponses } from '../../formats/openai-responses/index.ts';
import { RequestBody, type Operation } from '../kernel/index.ts';
import { withoutUnknownIds } from './unknown-ids.ts';

// Only the format of the operation is read.
const operation = { format: openaiResponses } as Partial<Operation> as Operation;
const inBackground = RequestBody.read(Buffer.from('{"model":"m","input":"Hi","background":true}'), 64);

describe('a response in the background', () => {
  it('runs in the account of a caller who brings a token', () => {
    const target = { format: 'openai-responses', usesCallersToken: true, takesUnknownIds: true } as const;
    expect(withoutUnknownIds(operation, inBackground, target)).toBeUndefined();
  });

  it('is refused in the account of the gateway, even where its ids pass', () => {
    const target = { format: 'openai-responses', takesUnknownIds: true } as const;
    expect(() => withoutUnknownIds(operation, inBackground, target)).toThrow('in the background');
  });
});
