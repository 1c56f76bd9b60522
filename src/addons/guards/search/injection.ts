import type { Rule } from './rules.ts';

const LONGEST = 160;

/** A space of the phrase stands for up to three of any kind. */
const rule = (phrase: string): Rule => ({
  pattern: new RegExp(phrase.replaceAll(' ', String.raw`\s{1,3}`), 'i'),
  mask: '',
  longest: LONGEST,
});

const INSTRUCTIONS =
  '(?:instructions?|prompts?|rules|messages?|directions?|directives?|context|guidance|guidelines|policy|policies)';
const EARLIER = '(?:previous|prior|above|earlier|preceding|system|original|initial|current)';
const FREE = '(?:restrictions|rules|guidelines|filters?|limits)';

/** Phrases that ask a model to leave its instructions. Heuristics: they miss attacks, and find texts about attacks. */
export const INJECTIONS: readonly Rule[] = [
  rule(
    String.raw`\b(?:ignore|disregard|forget|override|bypass|discard|neglect|cancel|set aside) (?:(?:all|any|every|of|the|your|my|these|those) ){0,4}${EARLIER} ${INSTRUCTIONS}\b`,
  ),
  rule(String.raw`\b(?:ignore|disregard|forget) (?:all of )?the above (?:and|context|text)\b`),
  rule(
    String.raw`\b(?:${EARLIER}|your) (?:\w{1,12} )?${INSTRUCTIONS} (?:are|were) (?:now )?(?:void|cancell?ed|revoked|obsolete|outdated)\b`,
  ),
  rule(
    String.raw`\b(?:reveal|print|show|repeat|output|leak|display|translate|encode|summari[sz]e|quote) (?:me )?(?:your|the) (?:(?:hidden|full|entire|initial|own|secret) ){0,2}(?:system (?:prompt|message)|(?<=your |initial |hidden |secret )(?:instructions|prompt))\b`,
  ),
  rule(
    String.raw`\bwhat (?:did|does|is|are|was|were) (?:your|the) (?:system|initial|hidden) (?:prompt|message|instructions)\b`,
  ),
  rule(String.raw`\b(?:repeat|copy|print|output) (?:all |everything |the |text |words ){1,3}above\b`),
  rule(String.raw`\byou are (?:now )?(?:DAN|in developer mode|jailbroken|unrestricted)\b`),
  rule(String.raw`\b(?:do anything now|developer mode enabled|unrestricted (?:AI|model|assistant|chatbot))\b`),
  rule(String.raw`\bpretend (?:that )?(?:you have no|there are no) ${FREE}\b`),
  rule(
    String.raw`\b(?:AI|model|assistant|chatbot) (?:without|with no|who has no|that has no) (?:any )?(?:\w{1,12} )?${FREE}\b`,
  ),
  rule(String.raw`\b(?:attention|dear|note to|message to) (?:the |all )?(?:AI|LLM|assistant|language model)s?\b`),
  rule(String.raw`\bif you are an? (?:AI|LLM|(?:large )?language model)\b`),
  rule(
    String.raw`<\|(?:im_start|im_end|system|endoftext|(?:start|end)_header_id)\|>|\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_turn>|\{\{[#/]system~?\}\}`,
  ),
  // German, French, Spanish, Portuguese, Italian, Dutch.
  rule(
    /\b(?:ignoriere|vergiss|missachte) (?:\S{2,12} ){0,2}(?:vorherigen|vorigen|bisherigen|obigen|früheren) (?:Anweisungen|Regeln|Befehle)\b/
      .source,
  ),
  rule(
    /\b(?:ignore[zr]?|ignora|oublie[zr]?|olvida|esque[cç]a|dimentica) (?:\S{2,7} ){0,2}(?:instructions|consignes|instrucciones|reglas|instruções|regras|istruzioni|regole) (?:précédentes|antérieures|anteriores|previas|prévias|precedenti|anteriori)/
      .source,
  ),
  rule(String.raw`\bnegeer (?:\S{2,12} ){0,2}(?:eerdere|vorige|bovenstaande) instructies\b`),
  // Russian, Arabic, Chinese, Japanese, Korean.
  rule(/(?:игнорируй|забудь)(?:те)? (?:\S{2,12} ){0,2}(?:предыдущие|прежние) (?:инструкции|указания)/.source),
  rule(/تجاهل (?:\S{2,12} ){0,2}(?:التعليمات|الأوامر) السابقة/.source),
  rule(/(?:忽略|无视|忘记).{0,8}(?:之前|以上|前面|先前).{0,8}(?:指令|指示|规则|提示)/.source),
  rule(/(?:以前|これまで|上記)の.{0,4}(?:指示|命令|ルール).{0,6}(?:無視|忘れ)/.source),
  rule(/(?:이전|위의).{0,6}(?:지시|명령|규칙).{0,8}(?:무시|잊)/.source),
];
