//! The words of the generated language: classes of real English stems, the most frequent first.
//!
//! Within a class the word of rank r is drawn with a weight of 1 / (r + 2) (Zipf's law, flattened at
//! the head as Mandelbrot has it), so the order of a list is its statistics. Many stems stand in
//! several lists on purpose ("plan" is a noun, a verb of wanting and a verb of doing; "Ford" is a
//! surname and a firm; "firm" a noun and an adjective): this is where the ambiguity of the corpus
//! comes from. A class may be open: the given percentage of its draws is a word made on the spot by
//! [`Coin`], so that the vocabulary never stops growing.
//!
//! Names are invented or those of well-known places; no given name and surname here are meant to
//! make a real person.

use seqoia_core::Random;

use super::coin::{self, Coin, Pattern};
use super::morphology::Kind;
use Kind::{Grade, Noun, Plain, Verb};

/// A class as the grammar names it: how its words inflect, how many percent of them are coined and
/// how, and its stems by rank.
pub(super) type Class = (&'static str, Kind, (usize, Coin), &'static str);

const NAME: Kind = Plain(&["NNP"]);

/// All stems are in the list.
const CLOSED: (usize, Coin) = (0, Coin::Stem(&[]));

const fn stem(percent: usize, patterns: &'static [Pattern]) -> (usize, Coin) {
    (percent, Coin::Stem(patterns))
}

const fn name(percent: usize, patterns: &'static [Pattern]) -> (usize, Coin) {
    (percent, Coin::Name(patterns))
}

const fn figure(make: fn(&mut Random) -> String) -> (usize, Coin) {
    (100, Coin::Figure(make))
}

#[rustfmt::skip]
pub(super) const CLASSES: &[Class] = &[
    ("PERSON", Noun, stem(7, coin::PERSON), "official analyst player farmer trader worker minister \
        scientist teacher driver student visitor manager mayor coach expert researcher customer owner \
        reporter pilot sailor engineer rival judge guide host guard cook resident fan voter captain singer \
        lawyer doctor nurse baker gardener neighbor painter swimmer cyclist librarian economist shopper \
        volunteer child witness beekeeper"),
    ("GROUP", Noun, CLOSED, "company team bank agency group club council firm committee school union board \
        museum factory airline league hospital university store orchestra panel court crew staff party \
        press brewery institute network cooperative"),
    ("THING", Noun, stem(14, coin::THING), "car house ship book machine train plant bridge paper road \
        ticket engine boat letter picture garden map tower film sign wheel clock tunnel bicycle lamp piano \
        apple cheese ladder kettle computer telescope battery potato fence pump roof barrel stamp camera \
        coat statue bench robot violin carpet leaf"),
    ("ABSTRACT", Noun, stem(9, coin::THING), "plan report offer deal program study bid project change rule \
        decision move agreement idea test contract law proposal order call effort answer vote talk review \
        result claim record question survey hope need warning ruling forecast promise theory method budget \
        permit delay limit purchase design"),
    ("QUANTITY", Noun, CLOSED, "price sale share profit cost rate stock export import trade demand output \
        order supply wage income rent tax rise drop fee loan gain loss fare temperature crop harvest index \
        average saving increase decline fall fund"),
    ("PLACE", Noun, stem(6, coin::THING), "market city town river port village country station field park \
        harbor coast region island street border stadium valley forest lake square airport farm center \
        office shop mountain beach suburb hall mill canal lighthouse"),
    ("EVENT", Noun, stem(5, coin::THING), "meeting match race game visit season election storm festival \
        concert fair talk show strike tour flood conference parade trial auction opening building rally \
        wedding crossing drought launch"),
    ("MASS", Plain(&["NN"]), stem(4, coin::MASS), "oil steel wheat water trade rain coffee gold milk snow \
        fish wool research copper sugar timber power traffic weather farming shipping fishing banking paper \
        cotton food housing training football tourism music chess"),
    ("TIME", Noun, CLOSED, "year week month day season morning summer quarter night winter weekend evening \
        spring decade"),
    ("UNIT", Noun, CLOSED, "ton barrel mile point hour acre minute case meter page"),
    ("SAY", Verb, CLOSED, "say report expect announce believe think add show claim argue note find know \
        warn hope predict suggest insist explain confirm deny promise estimate feel hear fear dream"),
    ("KNOW", Verb, CLOSED, "say know ask show explain wonder question"),
    ("WANT", Verb, CLOSED, "want plan agree expect hope try need continue decide offer begin refuse fail \
        start promise prepare seek vote aim learn manage wait"),
    ("ACT", Verb, stem(6, coin::DEED), "buy sell build make use open cut close hold plan change test study \
        raise order move review sign report lose find reject accept need trade finance produce repair ship \
        paint store supply design delay record question watch draw print plant water replace finish deliver \
        collect clean limit block cancel inspect lower publish measure rent house revise fund map film own \
        free launch purchase"),
    ("MEET", Verb, stem(3, coin::DEED), "meet help call ask beat support visit join lead hire face thank \
        follow pay teach watch guide host train invite praise question guard judge greet welcome fund coach \
        trust warn"),
    ("MOVE", Verb, CLOSED, "rise fall drop gain increase climb grow slip jump decline slide double advance \
        recover shrink ease"),
    ("GO", Verb, CLOSED, "go work return play travel live arrive talk run wait race walk stand stay vote \
        train sail fish camp swim march dance gather sleep"),
    ("GIVE", Verb, CLOSED, "give offer send pay sell show lend bring hand teach"),
    ("LINK", Verb, CLOSED, "remain become seem look appear feel stay sound grow"),
    ("UPVERB", Verb, CLOSED, "set pick give buy open call hold clean build look"),
    ("DOWNVERB", Verb, CLOSED, "turn cut close shut bring pull hold"),
    ("OUTVERB", Verb, CLOSED, "carry work sell point hand rule send print"),
    ("OFFVERB", Verb, CLOSED, "call pay put sell cut show"),
    ("OVERVERB", Verb, CLOSED, "take hand turn look"),
    ("BE", Verb, CLOSED, "be"),
    ("HAVE", Verb, CLOSED, "have"),
    ("DO", Verb, CLOSED, "do"),
    ("GRADE", Grade, CLOSED, "new big high small old low large strong early late weak light cheap firm cold \
        heavy warm slow clean close free dry wet rich poor clear bright quiet long short happy busy green \
        red blue sweet"),
    ("ADJ", Plain(&["JJ"]), stem(16, coin::QUALITY), "last other national local public major foreign first \
        recent open private official key average good bad current rival leading expert regional annual \
        careful famous industrial rural popular total domestic welcome standard curious present patient \
        wooden novel modern coastal musical chief past future joint"),
    ("ABLE", Plain(&["JJ"]), CLOSED, "likely able ready expected unlikely willing free due eager prepared \
        set happy unable"),
    ("CLEAR", Plain(&["JJ"]), stem(12, coin::QUALITY), "clear possible important good public strange bad \
        popular famous curious open careful wrong welcome right modern local"),
    ("MANNER", Plain(&["RB"]), stem(15, coin::MANNER), "sharply slightly slowly quickly early steadily well \
        hard late quietly fast again badly carefully abroad together likely daily"),
    ("MID", Plain(&["RB"]), CLOSED, "also still already now recently often probably only never soon once \
        finally generally just daily"),
    ("OPENER", Plain(&["RB"]), CLOSED, "however meanwhile still now then instead moreover so here earlier \
        yet perhaps later"),
    ("DEGREE", Plain(&["RB"]), CLOSED, "very too so quite rather almost pretty still"),
    ("MODAL", Plain(&["MD"]), CLOSED, "will would could can may should might must"),
    ("PREP", Plain(&["IN"]), CLOSED, "in for on with at from by about near against between under over after \
        into through before around without across behind like toward"),
    ("WHERE", Plain(&["IN"]), CLOSED, "in at near from across outside around through behind"),
    ("ALONG", Plain(&["IN"]), CLOSED, "up down over along off past"),
    ("SUBORD", Plain(&["IN"]), CLOSED, "as if because while after although before since until though unless"),
    ("CONJ", Plain(&["CC"]), CLOSED, "and but so yet"),
    ("NOT", Plain(&["RB"]), CLOSED, "n't not"),
    ("WHADV", Plain(&["WRB"]), CLOSED, "how why when where"),
    ("HE", Plain(&["PRP"]), CLOSED, "it he she"),
    ("HIM", Plain(&["PRP"]), CLOSED, "them him her us me"),
    ("THEY", Plain(&["PRP"]), CLOSED, "they we you"),
    ("THEM", Plain(&["PRP"]), CLOSED, "it them"),
    ("OWNER", Plain(&["PRP$"]), CLOSED, "its their his her our my"),
    ("SMALL", Plain(&["CD"]), CLOSED, "two three five six four ten eight seven nine dozen twelve"),
    ("SCALE", Plain(&["CD"]), CLOSED, "million billion trillion"),
    ("INT", Plain(&["CD"]), figure(coin::number), ""),
    ("DECIMAL", Plain(&["CD"]), figure(coin::decimal), ""),
    ("FIGURE", Plain(&["CD"]), figure(coin::year), ""),
    ("SCORE", Plain(&["CD"]), figure(coin::score), ""),
    ("DATE", Plain(&["CD"]), figure(coin::day), ""),
    ("AGE", Plain(&["CD"]), figure(coin::age), ""),
    ("MONTH", NAME, CLOSED, "March May June September January October April July Dec. Nov. August Feb."),
    ("WEEKDAY", NAME, CLOSED, "Monday Friday Tuesday Thursday Wednesday Sunday Saturday"),
    ("GIVEN", NAME, name(6, coin::GIVEN), "Annika Petra Maria Oscar Klara Nina Felix Lena Ivan Rosa Marta \
        Silas Irene Karl Austin Sofia Hassan Mei Amara Kofi Florence Ravi Chelsea Sydney Yuki Jordan Pavel \
        Inga Victoria Dale April Mercedes"),
    ("SURNAME", NAME, name(38, coin::SURNAME), "Washington Ford Baker Lincoln Berger Novak Chester Okafor \
        Lindqvist Burton Moreno Preston Tanaka Hilton Weaver Kent Haddad Florence Sullivan Chan Bradford \
        Miller Wells Santos Jordan Dell Petrov Austin Hudson Summers Marsh Rivers Lamp Fields Page \
        Boston Hart"),
    ("TOWN", NAME, name(34, coin::TOWN), "London Washington Paris Tokyo Boston Oslo Chester Porto Lincoln \
        Zürich Leeds Preston Lima Nairobi Florence Malmö Austin Bradford Wells Sydney Burton Hamburg \
        Chelsea Reading Cork Nice Kyoto Bergen Hudson Marsh Victoria Dale Fields"),
    ("VILLAGE", NAME, name(100, coin::TOWN), ""),
    ("COUNTRY", NAME, CLOSED, "Japan Canada Italy Sweden Brazil Kenya Jordan Norway Chile Portugal India \
        Turkey China Europe Peru Asia Finland Chad Georgia Iceland"),
    ("NATION", Plain(&["JJ"]), CLOSED, "Japanese Italian Swedish Canadian French Brazilian British Kenyan \
        Norwegian European Dutch Indian Chilean Turkish Peruvian Asian Polish"),
    ("FIRM", NAME, name(36, coin::FIRM), "Ford Summit Northline Baker Harvest Dell easyfreight Hilton \
        Beacon Lincoln Pioneer Hudson Target bluemill Orbit Victoria Weaver Mercedes nordmail Chelsea \
        Fields Boston Granite Anchor Reading Evergreen Record Page"),
    ("AGENCY", NAME, name(65, coin::ACRONYM), "NTC MRB CFL PLB BNR FMC"),
    ("COMPANY", NAME, CLOSED, "Corp. Inc. Co. Group Ltd. Industries Holdings Bank Motors Airlines Foods \
        Press"),
    ("TEAM", NAME, CLOSED, "United Rovers City Town Wanderers Athletic Lions"),
    ("BODY", NAME, CLOSED, "University Council Museum Hospital Institute Court Times Chamber"),
    ("CUP", NAME, CLOSED, "Cup Prize Open Games Festival Trophy Marathon"),
    ("CITIZENS", Plain(&["NNPS"]), CLOSED, "Italians Canadians Swedes Kenyans Norwegians Europeans \
        Brazilians"),
    ("INITIAL", NAME, CLOSED, "J. M. A. R. E. K. T."),
    ("RIVER", NAME, CLOSED, "River Valley Bridge Coast Park Islands"),
    ("MOUNT", NAME, CLOSED, "Lake Mount Port Fort Cape"),
    ("COMPASS", Plain(&["JJ"]), CLOSED, "northern western southern eastern central"),
    ("MODEL", NAME, name(45, coin::PRODUCT), "Falcon Comet Explorer Harvest Record Orbit Mercury"),
    ("TITLE", NAME, CLOSED, "Mr. Ms. Dr. Mrs. Prof. Judge Captain Mayor"),
];

/// Verbs that do not go by the rules: stem, past, participle.
#[rustfmt::skip]
pub(super) const IRREGULAR: &str = "\
    beat/beat/beaten become/became/become begin/began/begun bring/brought/brought build/built/built \
    buy/bought/bought cut/cut/cut do/did/done draw/drew/drawn fall/fell/fallen feel/felt/felt \
    find/found/found give/gave/given go/went/gone grow/grew/grown have/had/had hear/heard/heard \
    hold/held/held know/knew/known lead/led/led lend/lent/lent lose/lost/lost make/made/made meet/met/met \
    pay/paid/paid put/put/put rise/rose/risen run/ran/run say/said/said seek/sought/sought sell/sold/sold \
    send/sent/sent set/set/set show/showed/shown shrink/shrank/shrunk shut/shut/shut sleep/slept/slept \
    slide/slid/slid stand/stood/stood swim/swam/swum take/took/taken teach/taught/taught \
    think/thought/thought";

/// Nouns that do not go by the rules: one, many.
pub(super) const PLURALS: &[(&str, &str)] = &[("child", "children"), ("leaf", "leaves"), ("piano", "pianos")];
