import { describe, expect, it } from 'vitest';
import { foldCase } from './field-names.ts';

describe('simple case folding', () => {
  it.each([
    ['MODEL', 'model'],
    ['Max_Tokens', 'max_tokens'],
    ['ſtream', 'stream'],
    ['toK\u0065ns', 'tokens'],
    ['to\u212Aens', 'tokens'],
    ['ΣΊΣΥΦΟς', 'σίσυφοσ'],
    ['STRASSE', 'strasse'],
    ['straße', 'straße'],
    ['\u{10400}', '\u{10428}'],
  ])('folds %s to %s', (text, folded) => {
    expect(foldCase(text)).toBe(folded);
  });

  it('keeps the length of every character, so that a key is as long as the name it folds to', () => {
    const wrong: string[] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      if (foldCase(character).length !== character.length) wrong.push(character);
    }
    expect(wrong).toEqual([]);
  });

  // ECMA-262 22.2.2.7.3: with the flags `i` and `u` a pattern compares characters by simple case folding.
  it('agrees with JavaScript’s case-insensitive patterns on every character', () => {
    const wrong: string[] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      for (const other of [character.toUpperCase(), character.toLowerCase(), foldCase(character)]) {
        if (other === character || [...other].length !== 1) continue;
        const same = new RegExp(`^\\u{${other.codePointAt(0)!.toString(16)}}$`, 'iu').test(character);
        if (same !== (foldCase(other) === foldCase(character))) wrong.push(`${character} ${other}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
