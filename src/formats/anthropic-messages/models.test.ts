import { describe, expect, it } from 'vitest';
import { modelFacts, parseModel } from './models.ts';

describe('parseModel', () => {
  it.each([
    ['claude-3-5-haiku-20241022', 'haiku', 305],
    ['claude-3-7-sonnet@20250219', 'sonnet', 307],
    ['claude-3-opus-20240229', 'opus', 300],
    ['claude-3-5-haiku-latest', 'haiku', 305],
    ['claude-3-5-sonnet-v2@20241022', 'sonnet', 305],
    ['claude-sonnet-4-0', 'sonnet', 400],
    ['claude-sonnet-4-20250514', 'sonnet', 400],
    ['claude-opus-4-1-20250805', 'opus', 401],
    ['claude-sonnet-4-5-20250929', 'sonnet', 405],
    ['claude-sonnet-4-5@20250929', 'sonnet', 405],
    ['claude-opus-4-7', 'opus', 407],
    ['claude-sonnet-5', 'sonnet', 500],
    ['claude-fable-5', 'fable', 500],
    ['claude-fable-5-2', 'fable', 502],
    ['claude-mythos-preview', 'mythos', 500],
    ['claude-2.1', 'unknown', 201],
    ['claude-instant-1.2', 'unknown', 102],
    ['claude-next-9', 'unknown', Number.POSITIVE_INFINITY],
    ['', 'unknown', Number.POSITIVE_INFINITY],
  ])('reads %s', (id, family, version) => {
    expect(parseModel(id)).toEqual({ family, version });
  });
});

describe('modelFacts', () => {
  it.each([
    ['claude-3-5-haiku-latest', 'claude-3-5-haiku-20241022'],
    ['claude-3-7-sonnet-latest', 'claude-3-7-sonnet-20250219'],
    ['claude-3-5-sonnet-v2@20241022', 'claude-3-5-sonnet-20241022'],
    ['claude-sonnet-4-5-latest', 'claude-sonnet-4-5'],
  ])('are those of the model for %s', (spelling, id) => {
    expect(modelFacts(spelling)).toEqual(modelFacts(id));
  });

  it.each([
    ['claude-3-5-sonnet-20240620', 'none'],
    ['claude-3-7-sonnet-20250219', 'manual'],
    ['claude-haiku-4-5', 'manual'],
    ['claude-sonnet-4-6', 'both'],
    ['claude-opus-4-7', 'adaptive'],
    ['claude-mythos-preview', 'adaptive'],
    ['claude-next-9', 'adaptive'],
  ])('has %s think in the way %s', (id, thinking) => {
    expect(modelFacts(id).thinking).toBe(thinking);
  });

  it.each([
    ['claude-sonnet-4-20250514', false],
    ['claude-opus-4-1-20250805', true],
    ['claude-sonnet-4-5', true],
    ['claude-haiku-4-5-20251001', true],
    ['claude-opus-5', true],
  ])('says whether %s has structured outputs: %s', (id, structuredOutput) => {
    expect(modelFacts(id).structuredOutput).toBe(structuredOutput);
  });

  it.each([
    ['claude-opus-4-8', 'disabled', false],
    ['claude-opus-5', 'disabled', true],
    ['claude-sonnet-5', 'disabled', false],
    ['claude-haiku-5-5', 'disabled', true],
    ['claude-sonnet-5-5', 'between_tools', true],
    ['claude-opus-5-5', 'never', true],
    ['claude-fable-5', 'never', false],
    ['claude-mythos-preview', 'never', false],
    ['claude-sonnet-6', 'disabled', true],
    ['claude-next-9', 'disabled', true],
  ])('says whether thinking of %s can be turned off: %s, and with high effort not: %s', (id, turnOff, strict) => {
    expect(modelFacts(id)).toMatchObject({ turnOff, highEffortNeedsThinking: strict });
  });

  it.each([
    ['claude-opus-4-6', true],
    ['claude-opus-5', true],
    ['claude-haiku-5-5', true],
    ['claude-fable-5', false],
    ['claude-mythos-preview', false],
    ['claude-opus-5-5', false],
    ['claude-sonnet-5-5', false],
    ['claude-fable-5-1', false],
    ['claude-opus-6', true],
    ['claude-next-9', true],
  ])('says whether %s can be forced to call a tool: %s', (id, forcedTools) => {
    expect(modelFacts(id).forcedTools).toBe(forcedTools);
  });
});
