import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { literalOf } from '../json/literal.ts';
import { AnswerText } from './answer-text.ts';

it('an answer of texts and literals is the texts that they stand for', () => {
  const parts = fc.array(fc.tuple(fc.boolean(), fc.array(fc.string({ unit: 'binary' }), { minLength: 1 })));
  fc.assert(
    fc.property(parts, fc.boolean(), (runs, again) => {
      const answer = new AnswerText();
      const texts: string[] = [];
      for (const [literal, run] of runs) {
        if (literal) answer.addLiterals(run.map(literalOf));
        else for (const text of run) answer.add(text);
        texts.push(...run);
        if (again) answer.read();
      }
      const partStarts = texts.map((_, at) => texts.slice(0, at).join('').length);
      expect(answer.read()).toEqual({ text: texts.join(''), partStarts });
    }),
  );
});

it('more single literals than are joined at once stay in order', () => {
  const answer = new AnswerText();
  const texts = Array.from({ length: 600 }, (_, at) => `${at}`);
  for (const text of texts) answer.addLiterals([text]);
  expect(answer.read().text).toBe(texts.join(''));
});
