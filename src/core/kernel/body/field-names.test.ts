import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../plugin/errors.ts';
import { FieldNames } from './field-names.ts';
import { RequestBody } from './request-body.ts';

const names = new FieldNames([
  ['model'],
  ['extra_body', 'model'],
  ['messages', '0', 'role'],
  ['parts', '[]', 'text'],
  ['parts', '[]', 'in', '[]', 'text'],
]);
const check = (body: unknown): void => names.check(RequestBody.read(Buffer.from(JSON.stringify(body)), 64));

describe('names of fields that the gateway reads', () => {
  it.each([
    ['a key that folds to one', { MODEL: 'm' }, 'MODEL'],
    ['a key inside of an object', { extra_body: { Model: 'm' } }, 'extra_body.Model'],
    ['a key inside of a list', { messages: [{ Role: 'user' }] }, 'messages[0].Role'],
    ['a key inside of any item', { parts: [{ text: 'a' }, 1, [], { in: [{ Text: 'a' }] }] }, 'parts[3].in[0].Text'],
  ])('refuse %s', (_, body, param) => {
    const refused = expect.objectContaining({ code: 'ambiguous_parameter', param }) as GatewayError;
    expect(() => check(body)).toThrow(refused);
    expect(() => names.checkParsed(body)).toThrow(refused);
  });

  it('show the beginning of a long path', () => {
    const name = 'n'.repeat(10_000);
    const body = RequestBody.read(Buffer.from(JSON.stringify({ [name]: { Model: 1 } })), 64);
    let fault: GatewayError | undefined;
    try {
      new FieldNames([[name, 'model']]).check(body);
    } catch (error) {
      fault = error as GatewayError;
    }
    expect(fault?.param?.length).toBeLessThan(300);
    expect(fault?.message.length).toBeLessThan(1000);
  });

  it('leave a longer key as it is: folding a megabyte takes 100 ms', () => {
    const fold = vi.spyOn(String.prototype, 'toUpperCase');
    const long = '\u00e9'.repeat(100_000);
    check({ [long]: 1, extra_body: { [long]: 1 } });
    expect(fold).not.toHaveBeenCalled();
    fold.mockRestore();
  });
});
