import type { TextFacts } from '../../core/kernel/index.ts';
import { inSameOrder, unequalFact } from './text-facts.ts';

/** Two texts that are near in words. `same`: one answer serves both. */
export interface NearPair {
  readonly kind: string;
  readonly same: boolean;
  readonly texts: readonly [string, string];
}

const pairsOf = (kind: string, same: boolean, table: string): readonly NearPair[] =>
  table
    .trim()
    .split('\n')
    .map((line) => {
      const [one = '', other = ''] = line.split('|').map((text) => text.trim());
      return { kind, same, texts: [one, other] };
    });

/** Two hundred pairs. All but the paraphrases need two answers. */
export const NEAR_PAIRS: readonly NearPair[] = [
  ...pairsOf(
    'dates',
    false,
    `
What happened in the stock market on 3 March 2021? | What happened in the stock market on 4 March 2021?
What is the weather in Lisbon today? | What is the weather in Lisbon tomorrow?
Book a table for Friday evening at eight | Book a table for Saturday evening at eight
Remind me to call the dentist next week | Remind me to call the dentist next month
List all invoices from January | List all invoices from February
Which films came out in 1994? | Which films came out in 1995?
Show me the sales report for Q1 2024 | Show me the sales report for Q2 2024
Is the museum open on Monday? | Is the museum open on Tuesday?
What is the deadline on 2025-06-30? | What is the deadline on 2025-06-29?
Schedule the meeting for 10:30 | Schedule the meeting for 11:30
Summarise the news of this morning | Summarise the news of this evening
Who was the chancellor of Germany in the nineties? | Who was the chancellor of Germany in the 1980s?
What should I plant in my garden in spring? | What should I plant in my garden in autumn?
When does the summer term begin at the university? | When does the winter term begin at the university?
Did it rain here yesterday? | Did it rain here today?
How many working days are there in july this year? | How many working days are there in june this year?
What were the results of the last quarter? | What were the results of the first quarter?
Is there a train at 7 am? | Is there a train at 7 pm?
How long is the flight on Christmas? | How long is the flight on Easter?
Show the backups of the last two weeks | Show the backups of the last two months
Which laws changed on 1/1/2023? | Which laws changed on 1/2/2023?
What do I have to do by tonight? | What do I have to do by midnight?
What did the company announce last year? | What did the company announce this year?
Convert 12:00 UTC to local time | Convert 14:00 UTC to local time
Find hotels from the 5th of May | Find hotels from the 6th of May
Wie wird das Wetter morgen in Bremen? | Wie wird das Wetter heute in Bremen?
Was ist am Montag im Kino zu sehen? | Was ist am Dienstag im Kino zu sehen?
Quel temps fera-t-il demain en montagne? | Quel temps fera-t-il lundi en montagne?
Qué pasó en la ciudad ayer? | Qué pasó en la ciudad hoy?
Give me the exchange rates of 31 Dec 2019 | Give me the exchange rates of 30 Dec 2019`,
  ),
  ...pairsOf(
    'numbers',
    false,
    `
What is 15% of 240? | What is 25% of 240?
Convert 10 miles to kilometers | Convert 100 miles to kilometers
Give me three ideas for a birthday party | Give me five ideas for a birthday party
How do I divide a cake among seven guests? | How do I divide a cake among nine guests?
Explain article 5 of the treaty | Explain article 6 of the treaty
Write a poem with 4 lines about the sea | Write a poem with 8 lines about the sea
Is -5 degrees cold for a palm? | Is 5 degrees cold for a palm?
How much is 2.5 kg of flour in cups? | How much is 25 kg of flour in cups?
How much is 5 kg of flour in cups? | How much is 5 g of flour in cups?
What does error 404 mean? | What does error 403 mean?
Upgrade the cluster from 1.28 to 1.29 | Upgrade the cluster from 1.27 to 1.29
What is the dose for a child of 20 kg? | What is the dose for a child of 30 kg?
Solve x + 3 = 9 | Solve x - 3 = 9
How much is €50 in yen? | How much is $50 in yen?
Summarise chapter twelve of the book | Summarise chapter eleven of the book
Which pages are longer than 1,000 words? | Which pages are longer than 10,000 words?
Is the disk of 500 GB large enough for the backup? | Is the disk of 500 MB large enough for the backup?
Pick the first item of the list and describe it | Pick the second item of the list and describe it
A loan over ten years, what is the rate? | A loan over ten months, what is the rate?
What is half of the population of the town? | What is a third of the population of the town?`,
  ),
  ...pairsOf(
    'names',
    false,
    `
What is the capital of Austria? | What is the capital of Australia?
Who founded Rome? | Who founded Troy?
How do I get from Paris to Lyon by train? | How do I get from Paris to Nice by train?
Write a letter to Anna about the delay | Write a letter to Peter about the delay
What is the population of Norway? | What is the population of Sweden?
Tell me about the history of Toyota | Tell me about the history of Honda
How do I install Docker on Ubuntu? | How do I install Docker on Fedora?
Translate this sentence into Spanish | Translate this sentence into Italian
What did Einstein say about time? | What did Newton say about time?
How tall is Mount Everest? | How tall is Mount Fuji?
Which rivers flow through Vienna? | Which rivers flow through Prague?
Recommend a novel by Jane Austen | Recommend a novel by George Eliot
Compare the iPhone with its predecessor | Compare the Pixel with its predecessor
Is the API of Stripe free to use? | Is the API of Adyen free to use?
How do I sort a list in Python? | How do I sort a list in Ruby?
Summarise the contract with Siemens | Summarise the contract with Bosch
Where was Frida Kahlo born? | Where was Diego Rivera born?
What is the tax rate in Ireland? | What is the tax rate in Iceland?
Show all tickets of team ALPHA | Show all tickets of team BRAVO
Give me directions to the airport of Oslo | Give me directions to the airport of Bergen
What does NATO do? | What does NASA do?
How do I open a bank account in Switzerland? | How do I open a bank account in Singapore?
Explain the plot of Hamlet | Explain the plot of Macbeth
Who directed Alien? | Who directed Aliens?
Paris weather in the coming days | Berlin weather in the coming days
Is Dr Miller in the office? | Is Dr Müller in the office?
Write a reply to Mrs Lee that accepts the offer | Write a reply to Mr Lee that accepts the offer
What is the phone code of Kenya? | What is the phone code of Ghana?
Describe the climate of South Korea | Describe the climate of North Korea
Which team does Messi play for? | Which team does Mbappé play for?
How do I write a test with Jest? | How do I write a test with Mocha?
Is GPT-4 better than the older model? | Is GPT-5 better than the older model?
Plan a weekend in Rome for a family | Plan a weekend in Venice for a family
Which visa do I need for India? | Which visa do I need for China?
Wo liegt Frankfurt? | Wo liegt Freiburg?`,
  ),
  ...pairsOf(
    'negations',
    false,
    `
Which foods are safe for dogs? | Which foods are not safe for dogs?
List the countries that have a coast | List the countries that have no coast
Can I take this medicine with alcohol? | Can I take this medicine without alcohol?
Why does the server start? | Why doesn't the server start?
Show the users who logged in this week | Show the users who never logged in this week
Is it legal to film in public? | Is it illegal to film in public?
Which plants grow in the shade? | Which plants don't grow in the shade?
Write a recipe with nuts | Write a recipe without nuts
Which browsers support this feature? | Which browsers do not support this feature?
Why is the sky blue here? | Why isn't the sky blue here?
Which invoices were paid? | Which invoices were unpaid?
Describe the people who agree with the plan | Describe the people who disagree with the plan
Can a cat live outside? | Can't a cat live outside?
What should I say in the interview? | What should I not say in the interview?
Explain why the proof is correct | Explain why the proof is incorrect
List all files including hidden ones | List all files excluding hidden ones
Is the change reversible? | Is the change irreversible?
Name animals that can fly | Name animals that cannot fly
What happens if I pay the fine? | What happens if I never pay the fine?
Which tests failed on the main branch? | Which tests have not failed on the main branch?
Which ingredients contain gluten? | Which ingredients contain no gluten?
Is the package installed on my machine? | Is the package not installed on my machine?
Everyone except the manager gets the mail, right? | Everyone and the manager gets the mail, right?
Are there trains unless it snows? | Are there trains when it snows?
Who responded to the invitation? | Who hasn't responded to the invitation?
Welche Pilze sind giftig? | Welche Pilze sind nicht giftig?
Kann ich ohne Visum reisen? | Kann ich mit Visum reisen?
Quels animaux mangent de la viande? | Quels animaux ne mangent pas de viande?
Qué alimentos puedo comer? | Qué alimentos no puedo comer?
Is this word considered polite? | Is this word considered impolite?`,
  ),
  ...pairsOf(
    'opposites',
    false,
    `
How do I enable two-factor login? | How do I disable two-factor login?
Which shares should I buy now? | Which shares should I sell now?
Convert euros to dollars for me | Convert dollars to euros for me
What are the advantages of solar power? | What are the disadvantages of solar power?
How do I increase the font size? | How do I decrease the font size?
What should I do before the operation? | What should I do after the operation?
How do I add a user to the group? | How do I remove a user from the group?
Sort the table in ascending order | Sort the table in descending order
Which is the largest lake of the country? | Which is the smallest lake of the country?
Turn the heating on in the kitchen | Turn the heating off in the kitchen
Is the father of the bride invited? | Is the mother of the bride invited?
How do I encrypt the folder? | How do I decrypt the folder?
Did the dog bite the man? | Did the man bite the dog?
What is the maximum length of a name? | What is the minimum length of a name?
How do I upload a file to the bucket? | How do I download a file from the bucket?
Draft a mail that accepts the offer | Draft a mail that rejects the offer
Does the cat chase the mouse? | Does the mouse chase the cat?
Translate from german to english | Translate from english to german
Who lent money to the neighbour? | To the neighbour, who lent money?
What are symptoms of high blood pressure? | What are symptoms of low blood pressure?`,
  ),
  ...pairsOf(
    'words',
    false,
    `
what is the capital of france | what is the capital of spain
how do I cook rice | how do I cook pasta
what is the best way to learn the guitar as an adult | what is the best way to learn the piano as an adult
how do I reset my password | how do I reset my phone
how do I delete a branch in git | how do I delete a tag in git
which vitamins are in carrots | which vitamins are in oranges
explain how a transformer works | explain how a transistor works
how long do I boil an egg | how long do I boil a potato
how do I change the tyre of a car | how do I change the oil of a car
write a function that returns the mean of a list of values | write a function that returns the median of a list of values
is it normal that my knee hurts when I walk down the stairs | is it normal that my hip hurts when I walk down the stairs
how do I remove coffee stains from a white cotton shirt | how do I remove wine stains from a white cotton shirt
what is the difference between a virus and a bacterium | what is the difference between a virus and a fungus
please write a polite mail to my landlord because the heating in my flat is broken | please write a polite mail to my landlord because the shower in my flat is broken
which documents does a student need for a visa | which documents does a tourist need for a visa
what is a good name for a black cat | what is a good name for a black dog
can you explain the joke about the chicken to me | can you explain the joke about the horse to me
how do I say thank you in french | how do I say thank you in dutch
how do I grow tomatoes on a balcony | how do I grow peppers on a balcony
how do I treat a burn on my hand | how do I treat a cut on my hand`,
  ),
  ...pairsOf(
    'paraphrases',
    true,
    `
How do I reset my password? | how do I reset my password
How do I reset my password? | How do I reset my password, please?
How do I reset my password? | How can I reset my password?
How do I reset my password? | What is the way to reset my password?
How do I reset my password? | Tell me how to reset my password
What is the capital of Austria? | what is the capital of Austria
What is the capital of Austria? | What's the capital of Austria?
What is the capital of Austria? | Can you tell me the capital of Austria?
What is the capital of Austria? | Please tell me: what is the capital of Austria?
What is the capital of Austria? | Which city is the capital of Austria?
Why is the sky blue? | why is the sky blue
Why is the sky blue? | Why is the sky blue??
Why is the sky blue? | Can you explain why the sky is blue?
Explain how a heat pump works | explain how a heat pump works.
Explain how a heat pump works | Please explain how a heat pump works
Explain how a heat pump works | How does a heat pump work?
Explain how a heat pump works | Could you explain how a heat pump works?
Write a short poem about the sea | Write a short poem about the sea.
Write a short poem about the sea | Please write a short poem about the sea
Write a short poem about the sea | write me a short poem about the sea
Which documents do I need to rent a flat in Berlin? | Which documents do I need to rent an apartment in Berlin?
Which documents do I need to rent a flat in Berlin? | What documents do I need to rent a flat in Berlin?
Which documents do I need to rent a flat in Berlin? | Which papers do I need to rent a flat in Berlin?
Which documents do I need to rent a flat in Berlin? | Hello, which documents do I need to rent a flat in Berlin?
How do I undo the most recent commit in git? | How can I undo the most recent commit in git?
How do I undo the most recent commit in git? | how do i undo the most recent commit in git
How do I undo the most recent commit in git? | How do I undo my most recent commit in git?
How do I undo the most recent commit in git? | How do I revert the most recent commit in git?
What is the boiling point of water at sea level? | What is the boiling point of water at sea level
What is the boiling point of water at sea level? | At sea level, what is the boiling point of water?
What is the boiling point of water at sea level? | Please tell me the boiling point of water at sea level
Summarise the text that I sent to you | Please summarise the text that I sent to you
Summarise the text that I sent to you | Summarise the text I sent to you
Summarise the text that I sent to you | Give me a summary of the text that I sent to you
Is it safe to eat raw eggs? | is it safe to eat raw eggs?
Is it safe to eat raw eggs? | Is eating raw eggs safe?
Where can I park near the old town? | where can I park near the old town
Where can I park near the old town? | Where is parking near the old town?
Where can I park near the old town? | Hi! Where can I park near the old town?
Translate good morning into Italian | translate good morning into Italian
Translate good morning into Italian | Please translate good morning into Italian
Translate good morning into Italian | Translate "good morning" into Italian
Wie setze ich mein Passwort zurück? | wie setze ich mein Passwort zurück
Wie setze ich mein Passwort zurück? | Wie kann ich mein Passwort zurücksetzen?
What does the warranty of my washing machine cover? | what does the warranty of my washing machine cover?`,
  ),
];

/** Facts must be equal, and common words in one order: "euros to dollars" is not "dollars to euros". */
export function differsIn(one: TextFacts, other: TextFacts): keyof TextFacts | undefined {
  return unequalFact(one, other) ?? (inSameOrder(one, other) ? undefined : 'words');
}
