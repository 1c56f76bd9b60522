/** Words that vectors of texts hardly show, in English, German, French and Spanish; of other languages only digits and names are compared. */

const set = (...lists: readonly string[]): ReadonlySet<string> =>
  new Set(lists.flatMap((list) => list.split(/\s+/)).filter((word) => word !== ''));

/** Numbers as words. Their values are not computed: `three` and `3` differ, which costs a hit and no wrong answer. */
const NUMBER_WORDS = set(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen',
  'eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half',
  'quarter third fourth fifth sixth seventh eighth ninth tenth first second last next previous once twice double triple',
  'single both couple pair every each all any some few many most',
  'null ein eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend halb erste zweite dritte letzte',
  'nächste deux trois quatre cinq six sept huit neuf dix cent mille premier première deuxième dernier dernière prochain',
  'dos tres cuatro cinco seis siete ocho nueve diez cien mil primero primera segundo último última próximo',
);

/** Days, months, times relative to now, and units. `may` and `march` are left to the names. */
const DATE_WORDS = set(
  'monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun weekday weekdays',
  'weekend january february march april june july august september october november december jan feb mar apr jun jul aug',
  'sep sept oct nov dec today tomorrow yesterday tonight now noon midnight midday morning afternoon evening night',
  'spring summer autumn fall winter christmas easter am pm bc ad',
  'montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember heute',
  'morgen gestern abend lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août',
  'septembre octobre novembre décembre demain hier lunes martes miércoles jueves viernes sábado domingo enero febrero',
  'marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre hoy mañana ayer',
);

const UNITS = set(
  'second seconds sec minute minutes min hour hours hr hrs day days daily week weeks weekly month months monthly quarterly',
  'year years yearly annual annually decade decades century centuries ms s h d km m cm mm mile miles yard yards foot feet ft inch inches kg g mg',
  'gram grams kilogram kilograms pound pounds lb lbs ounce ounces oz ton tons tonne tonnes liter liters litre litres ml l',
  'gallon gallons cup cups tablespoon tablespoons tbsp teaspoon teaspoons tsp percent percentage celsius fahrenheit kelvin',
  'degree degrees byte bytes kb mb gb tb kib mib gib bit bits usd eur gbp dollar dollars euro euros yen cent cents watt',
  'watts volt volts ampere amperes hz khz mhz ghz meter meters metre metres kilometer kilometers kilometre kilometres',
  'tag tage woche wochen monat monate jahr jahre stunde stunden minuten jour jours semaine semaines mois année années',
  'heure heures día días semana semanas mes meses año años hora horas',
);

export const isNumberWord = (word: string): boolean =>
  NUMBER_WORDS.has(word) || DATE_WORDS.has(word) || UNITS.has(word);

const NEGATIONS = set(
  'not no none never nobody nothing nowhere neither nor without cannot hardly barely scarcely rarely seldom except unless',
  'instead rather excluding exclude excludes excluded include includes included including only lack lacks lacking missing avoid avoids avoiding prevent prevents refuse refuses fail fails failed',
  'nicht kein keine keinen keiner keinem nie niemals ohne niemand nichts außer ne pas jamais aucun aucune sans rien non',
  'nunca ningún ninguno ninguna sin nada nadie tampoco',
);

/** Words with an opposite: a text with the opposite has nearly the same vector. */
const OPPOSITES = set(
  'before after above below over under more less fewer most least increase increases increasing decrease decreases',
  'decreasing increased decreased raise lower higher rise rises fall falls rising falling up down in out on off inside outside',
  'with add adds adding remove removes removing start starts starting stop stops stopping begin begins beginning end ends ending open opens',
  'opening close closes closing closed buy buying sell selling enable enables enabled enabling disable disables disabled disabling',
  'allow allows allowed allowing deny denies denied forbid forbids forbidden block blocks blocked blocking unblock import',
  'imports importing export exports exporting encrypt decrypt encode decode compress left right north south east west northern southern',
  'eastern western min max minimum maximum minimize maximize best worst better worse first last old older oldest new newer newest',
  'hot cold warm cool high low highest lowest large larger largest small smaller smallest big bigger biggest cheap cheaper',
  'cheapest expensive fast faster fastest slow slower slowest long longer longest short shorter shortest safe dangerous',
  'true false male female man men woman women boy girl he she him her his hers mother father son daughter husband wife win',
  'wins lose loses love hate pro pros con cons advantage advantages disadvantage disadvantages benefit benefits risk risks',
  'strength strengths weakness weaknesses upload uploading download downloading push pull send sending receive receiving',
  'sent received lend borrow accept accepts accepting accepted reject rejects rejecting rejected approve approves approved',
  'deny past future ancient modern arrive arrives arrival depart departs departure early earlier late later source',
  'destination input output read write reading writing public private internal external inbound outbound incoming outgoing always sometimes',
  'often must should may might required optional mandatory legal illegal present absent same different like dislike',
  'install installing uninstall uninstalling subscribe unsubscribe lock unlock hide show merge split upgrade downgrade login logout',
  'sync full empty positive negative profit loss gain guilty innocent success failure succeed deposit withdraw withdrawal debit credit',
  'alive dead birth death born died active inactive online offline vertical horizontal row rows column columns',
  'client server host guest parent child teacher student employer employee sender recipient buyer seller landlord tenant ascending descending',
  'vor nach mehr weniger mit aus ab auf avant après plus moins avec ouvrir fermer antes después más menos con abrir cerrar',
);

/** Prefixes that turn a word into its opposite. Words that only look so are compared too, which costs hits alone. */
const TURNED = /^(?:un|dis|non|mis|anti|in|il|im|ir|de)\p{L}{4,}$/u;

export const hasPolarity = (word: string): boolean =>
  NEGATIONS.has(word) || OPPOSITES.has(word) || /n['’]t$/.test(word) || TURNED.test(word);

/** Words that carry no content of their own. */
export const FUNCTION_WORDS = set(
  "a an the this that these those my your our their its his her i you we they he she it me us them what's whats who whom",
  'whose which what when where why how is are was were be been being am do does did done doing have has had having will',
  'would shall should could may might must can to of for at by from into onto about as and or but if then than so because',
  'while there here please kindly just also too very really quite hi hello hey thanks thank ok okay well now',
  "i'm i'd i've i'll you're we're it's that's there's let's want need like know tell give explain describe show help find",
  'get make let say said ask way ways thing things der die das den dem des ein eine einen und oder ist sind wie was wer wo',
  'wann warum bitte le la les un une des et ou est sont comment que qui quoi où quand pourquoi el los las una y o es son',
  'cómo qué quién dónde cuándo por favor in on with not no up out',
);

/** Words that begin a sentence with a capital letter and are no names. */
export const OPENERS = set(
  'could can would will should shall may might must do does did is are was were has have had what which who whom whose when',
  'where why how please kindly tell give show explain describe list write create make generate summarize summarise translate',
  'find compare define name calculate compute convert help i we you they he she it the a an this that these those my your',
  'our their his her its there here in on at for from to with without if and or but so as by about after before while let',
  'hi hello hey thanks thank ok okay yes no not never recommend suggest provide draft compose rewrite fix check book order cancel schedule remind',
  'set turn open close start stop add remove delete send get look search plan need want any is are does',
  'wie was wer wo wann warum kann können ist sind bitte der die das ein eine comment que quel quelle quels où quand pourquoi',
  'est le la les un une cómo qué cuál quién dónde cuándo por el los las una es',
);
