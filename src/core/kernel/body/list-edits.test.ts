import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../formats/json/edits.ts';
import { RequestBody } from './request-body.ts';

const bodyOf = (text: string): RequestBody => RequestBody.read(Buffer.from(text), 64);
const edit = (path: string, value: unknown) => ({ path: path.split('.'), value, source: 'plugin mask' });

describe('an edit inside of a list', () => {
  it('changes its value, and no other byte', () => {
    const body = bodyOf(
      '{ "n": 12345678901234567890,\n "messages" : [ {"role":"user", "content":"é a" , "x": 1.0}, {"content":[{"text":"b"}] } ] }',
    );
    const edited = body.edit([edit('messages.0.content', '🙂 "c"'), edit('messages.1.content.0.text', 'd')]);
    expect(edited.encode().toString()).toBe(
      '{ "n": 12345678901234567890,\n "messages" : [ {"role":"user", "content":"🙂 \\"c\\"" , "x": 1.0}, {"content":[{"text":"d"}] } ] }',
    );
    expect(edited.json()).toMatchObject({ messages: [{ content: '🙂 "c"' }, { content: [{ text: 'd' }] }] });
    expect(body.json()).toMatchObject({ messages: [{ content: 'é a' }, { content: [{ text: 'b' }] }] });
  });

  it('adds no item and removes none', () => {
    const body = bodyOf('{"list":[1,{"a":2}]}');
    for (const path of ['list.2', 'list.-1', 'list.x', 'list.0.a'])
      expect(body.edit([edit(path, 9)]).json()).toEqual(body.json());
    expect(body.edit([edit('list.1.b', 3)]).json()).toEqual({ list: [1, { a: 2, b: 3 }] });
    expect(
      JSON.parse(
        body
          .edit([edit('list.1.b', 3)])
          .encode()
          .toString(),
      ),
    ).toEqual({ list: [1, { a: 2, b: 3 }] });
  });

  it('is written as it is read, for any JSON', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { minLength: 1, maxLength: 4 }),
        fc.nat({ max: 3 }),
        fc.jsonValue(),
        (list, at, value) => {
          if (value === undefined) return;
          const edits = [edit(`list.${at}`, value)];
          const body = bodyOf(JSON.stringify({ list })).edit(edits);
          expect(JSON.parse(body.encode().toString())).toEqual(JSON.parse(JSON.stringify(applyEdits({ list }, edits))));
        },
      ),
    );
  });
});
