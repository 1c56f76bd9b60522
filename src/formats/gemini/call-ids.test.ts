import { expect, it } from 'vitest';
import { withoutCallIds } from './call-ids.ts';

const call = (id: string, name = 'f') => ({ functionCall: { name, args: {}, id } });
const response = (id: string, output: string) => ({ functionResponse: { name: 'f', response: { output }, id } });
const bare = (output: string) => ({ functionResponse: { name: 'f', response: { output } } });

it('responses move to the order of their calls when they lose their ids', () => {
  const contents = [
    { role: 'user', parts: [{ text: 'hi' }] },
    { role: 'model', parts: [{ text: 'Both.' }, { ...call('a'), thoughtSignature: 's' }, call('b')] },
    { role: 'user', parts: [response('b', 'two'), response('a', 'one'), { text: 'and' }] },
  ];
  const [first, calls, responses] = withoutCallIds(contents);
  expect(first).toBe(contents[0]);
  expect(calls).toEqual({
    role: 'model',
    parts: [
      { text: 'Both.' },
      { functionCall: { name: 'f', args: {} }, thoughtSignature: 's' },
      { functionCall: { name: 'f', args: {} } },
    ],
  });
  expect(responses).toEqual({ role: 'user', parts: [bare('one'), bare('two'), { text: 'and' }] });
});

it('a response to a call that is not there keeps its place', () => {
  const contents = [{ role: 'user', parts: [response('x', 'one'), { function_response: { name: 'f', id: 'y' } }] }];
  expect(withoutCallIds(contents)).toEqual([
    { role: 'user', parts: [bare('one'), { function_response: { name: 'f' } }] },
  ]);
});
