import type { Rule } from './rules.ts';

const rule = (pattern: RegExp, longest: number): Rule => ({ pattern, mask: '', longest });

/** Phrases that ask a model to leave its instructions. Heuristics: they miss attacks, and find texts about attacks. */
export const INJECTIONS: readonly Rule[] = [
  rule(
    /\b(?:ignore|disregard|forget|override|bypass)\s{1,3}(?:all|any|the|your|my|these|those)?\s{0,3}(?:of\s{1,3}(?:the|your)\s{1,3})?(?:previous|prior|above|earlier|preceding|system|original)\s{1,3}(?:instructions?|prompts?|rules?|messages?|directions?|context)\b/i,
    90,
  ),
  rule(
    /\b(?:reveal|print|show|repeat|output|leak)\s{1,3}(?:me\s{1,3})?(?:your|the)\s{1,3}(?:hidden\s{1,3}|full\s{1,3}|entire\s{1,3})?(?:system\s{1,3}prompt|initial\s{1,3}instructions|system\s{1,3}message)\b/i,
    80,
  ),
  rule(/\byou\s{1,3}are\s{1,3}(?:now\s{1,3})?(?:DAN|in\s{1,3}developer\s{1,3}mode|jailbroken|unrestricted)\b/i, 50),
  rule(/\b(?:do\s{1,3}anything\s{1,3}now|developer\s{1,3}mode\s{1,3}enabled)\b/i, 40),
  rule(/<\|(?:im_start|im_end|system|endoftext)\|>|\[\/?INST\]|<<\/?SYS>>/, 16),
  rule(
    /\bpretend\s{1,3}(?:that\s{1,3})?(?:you\s{1,3}have\s{1,3}no|there\s{1,3}are\s{1,3}no)\s{1,3}(?:rules|restrictions|guidelines|filters)\b/i,
    70,
  ),
];
