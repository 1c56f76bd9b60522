import { describe, expect, it } from 'vitest';
import { differsIn } from './near-pairs.testkit.ts';
import { factsOf } from './text-facts.ts';

const between = (one: string, other: string) => differsIn(factsOf(one), factsOf(other));

describe('numbers', () => {
  it.each([
    ['with another digit', 'call me at 5', 'call me at 6'],
    ['with another sign', 'is -5 cold', 'is 5 cold'],
    ['with the separator at another place', 'add 2.5 and 1', 'add 25 and 1'],
    ['in another order', 'divide 8 by 2', 'divide 2 by 8'],
    ['as words', 'three cats sleep', 'four cats sleep'],
    ['with another unit', 'a box of 5 kg', 'a box of 5 g'],
    ['with another currency', 'pay €5 now', 'pay $5 now'],
    ['with a percent sign', 'take 5 of it', 'take 5% of it'],
    ['inside words', 'open port eth0', 'open port eth1'],
    ['in full width', 'room １２', 'room １３'],
    ['in another script', 'غرفة ٥', 'غرفة ٦'],
    ['as a date', 'on 2024-01-02', 'on 2024-01-03'],
  ])('differ %s', (_, one, other) => {
    expect(between(one, other)).toBe('numbers');
  });

  it('of full width are those of ASCII', () => {
    expect(between('room １２', 'room 12')).toBeUndefined();
  });
});

describe('negations and opposites', () => {
  it.each([
    ['not', 'is it ready', 'is it not ready'],
    ["n't", 'why is it ready', "why isn't it ready"],
    ['n’t', 'why is it ready', 'why isn’t it ready'],
    ['a prefix', 'is it reversible', 'is it irreversible'],
    ['without', 'tea with milk', 'tea without milk'],
    ['an opposite', 'lock the door', 'unlock the door'],
    ['German', 'ist das gut', 'ist das nicht gut'],
  ])('differ by %s', (_, one, other) => {
    expect(between(one, other)).toBe('polarity');
  });
});

describe('names', () => {
  it.each([
    ['inside a sentence', 'a trip to Rome', 'a trip to Oslo'],
    ['at the start', 'Rome in the rain', 'Oslo in the rain'],
    ['in capitals', 'ask team ALPHA', 'ask team BRAVO'],
    ['with an inner capital', 'iPhone prices', 'eBay prices'],
    ['in Cyrillic', 'поезд в Москва', 'поезд в Казань'],
  ])('differ %s', (_, one, other) => {
    expect(between(one, other)).toBe('names');
  });

  it('are not the first words of questions', () => {
    expect(between('How does it work?', 'how does it work?')).toBeUndefined();
    expect(between('Hi. Please wait', 'hi. please wait')).toBeUndefined();
  });
});

describe('words in another order', () => {
  it('distinguish a swap from a paraphrase', () => {
    expect(between('translate german to dutch', 'translate dutch to german')).toBe('words');
    expect(between('the cat chases the mouse', 'the mouse chases the cat')).toBe('words');
    expect(between('the cat chases the mouse', 'does the cat chases the mouse')).toBeUndefined();
  });
});

describe('any text', () => {
  it.each([
    '',
    ' ',
    '\u{1F600}',
    '٠',
    'a'.repeat(1000),
    '1'.repeat(1000),
    "'".repeat(1000),
    'a.'.repeat(500),
    '\ud800',
  ])('has facts, and the same ones twice (%#)', (text) => {
    expect(between(text, text)).toBeUndefined();
  });
});
