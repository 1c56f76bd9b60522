import type { Ask } from '../clients/upstream/ask.ts';
import { PNG } from '../clients/words.ts';
import { does, finished, says, type Case, type TurnOfRun } from './cases.ts';

/** An image in a conversation: from the user, or from a tool. The model wants it in each later request too. */

export const PICTURE = 'picture.png';

const hasPicture = ({ body }: TurnOfRun): boolean => body.includes(PNG);

function afterLook(ask: Ask, turn: TurnOfRun, looks: number) {
  if (!hasPicture(turn)) return says('Lost: the picture.');
  if (ask.rounds === looks) return does('I see it.', turn.tools.shell('printf dusk-%d 31'));
  return says(ask.results?.[0]?.includes('dusk-31') ? 'All came back: the picture.' : 'Lost: the result.');
}

export const IMAGE_CASES: readonly Case[] = [
  {
    name: 'image',
    title: 'an image of the user',
    prompt: 'Look at the picture, and run a command.',
    image: 'attached',
    model: (ask, turn) => afterLook(ask, turn, 0),
    verdict: finished,
  },
  {
    name: 'view',
    title: 'an image that a tool reads',
    prompt: 'Look at the picture, and run a command.',
    image: 'read',
    model: (ask, turn) =>
      ask.rounds === 0 && turn.tools.view ? does('', turn.tools.view(PICTURE)) : afterLook(ask, turn, 1),
    verdict: finished,
  },
];
