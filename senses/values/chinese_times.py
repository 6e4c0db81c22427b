"""Chinese time words as patterns on simplified text, each with the atom it means."""

import re

from soulgraph.senses.values import atoms, calendar_atoms, clock_atoms, distance_atoms
from soulgraph.senses.values.atoms import Atom, Company, Level
from soulgraph.senses.values.chinese_words import HOLIDAYS, PART, PARTS
from soulgraph.senses.values.durations import duration
from soulgraph.senses.values.numbers import in_digits
from soulgraph.senses.values.rules import Match, Rule

_DIGITS = "0-9零〇一二两三四五六七八九十百"
_NUMBER = rf"(?<![{_DIGITS}.第])[{_DIGITS}]{{1,5}}"
_WEEKDAYS = {
    char: day for day, chars in enumerate(["一1", "二2", "三3", "四4", "五5", "六6", "日天7"]) for char in chars
}
_NEAR = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_RELATED = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_REL = r"(?:(?<![早晚马以])上{1,2}|下{1,2}|[这本])一?个?"
_YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2, "大后": 3}
_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
# 三号楼 and 坐3号线 are labels, 三点意见 are points, and 一点 is mostly a little.
_LABELS = (
    "(?:[楼线店门院机球选码桌车位人病公库床馆厅台路区井坑文字元嘉技男女员服柜窗口站教宿仓灯键座场航舱弄味电令]"
    "|考[场生]|种子)"
)
_POINTS = "意见|建议|要求|要点|原因|理由|好处|坏处|不同|不足|说明|看法|想法|疑问|共识|启示|注意|需要注意|希望"
_NO_CLOCK = re.compile(rf"{_POINTS}|[都也儿点]|(?!一到)[{_DIGITS}]")  # 零点五 is a half
_A_LITTLE = re.compile("[不没用吧了事东钱小]")
_PART_ENDS = tuple("午晨上夜晚里早")
_POINTS_LEAD = re.compile(r"(?:[第这那有提几共差讲列注分高低]|[提说谈]到|以下|如下)$")
_EDGES = {"底": "end", "末": "end", "初": "begin", "中": "mid", "中旬": "mid", "上旬": "early", "下旬": "late"}
_UNIT = "(?P<unit>天|周|星期|礼拜|月|年)"
_SIDE = "(?P<side>(?:之|以)?[前后](?![面台半]))"
_WEEK = "(?:周|星期|礼拜)"
_TIME = rf"(?:{_NUMBER}|(?<![\d.])\d{{1,3}}\.\d|半|一?个半)个?半?(?:小时|钟头|分钟|刻钟)半?"


def _number(written: str) -> float:
    return 0.5 if written == "半" else float(in_digits(written))


def _related(written: str) -> int:
    return _RELATED[written.rstrip("个").rstrip("一")]


def _near_part(found: Match) -> Atom:
    word = found["part"]
    # 晚 alone is read as a part of the day only after a day
    return clock_atoms.near_part(_NEAR[found["day"]], f"今{word}", PARTS[word])


def _weekday(found: Match) -> Atom:
    number = _WEEKDAYS[found["day"]]
    if found["rel"]:
        return calendar_atoms.weekday_of_week(number, _related(found["rel"]))
    return calendar_atoms.weekday(number)


def _weekend(found: Match) -> Atom:
    return calendar_atoms.near_weekend(_related(found["rel"]) if found["rel"] else None)


def _distance(found: Match) -> Atom | None:
    unit = _UNITS[found["unit"]]
    ago = found["side"].endswith("前")
    if found["n"].endswith("几"):
        return distance_atoms.few_ago(unit) if ago else None
    count = _number(found["n"]) + (0.5 if found["half"] or found["half_more"] else 0)
    return (distance_atoms.units_ago if ago else distance_atoms.units_ahead)(unit, count)


def _ahead(found: Match) -> Atom:
    return distance_atoms.units_ahead(_UNITS[found["unit"]], _number(found["n"]))


def _around(found: Match) -> Atom:
    ahead = found["side"] in ("未来", "接下来")
    count = round(_number(found["n"]))
    return distance_atoms.units_around(_UNITS[found["unit"]], count if ahead else -count)


def _time_distance(found: Match) -> Atom | None:
    seconds = duration(found["time"])
    if seconds is None:
        return None
    return clock_atoms.from_now(-seconds if found["side"].endswith("前") else seconds)


def _time_left(found: Match) -> Atom | None:
    seconds = duration(found["time"] or found["time_up"])
    return None if seconds is None else clock_atoms.from_now(seconds)


def _year(found: Match) -> Atom | None:
    """A year of four digits; one of two if it cannot be a number of years: 08年, 98年, 15年夏天."""
    digits = in_digits(found["year"])
    number = int(digits)
    if len(digits) == 4:
        return calendar_atoms.year(number) if number >= 1000 else None
    if digits[0] == "0" or number >= 80 or (found["sure"] is not None and number < 40):
        return calendar_atoms.year(number + (1900 if number >= 40 else 2000))
    return None


def _decade(found: Match) -> Atom:
    number = int(in_digits(found["decade"]))
    return calendar_atoms.year(number if number > 99 else 1900 + number, 10)


def _month(found: Match) -> Atom | None:
    number = int(_number(found["month"]))
    return calendar_atoms.month(number) if 1 <= number <= 12 else None


def _date(found: Match) -> Atom | None:
    month = int(_number(found["month"]))
    day = int(_number(found["day"]))
    return calendar_atoms.date_of_year(month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _day_of_month(found: Match) -> Atom | None:
    number = int(_number(found["day"]))
    return calendar_atoms.day_of_month(number) if 1 <= number <= 31 else None


def _season(found: Match) -> Atom:
    return calendar_atoms.season(_SEASONS[found["season"]], needs=Company.TENSE)


def _near_season(found: Match) -> Atom:
    relation = {"上": "last", "下": "next"}.get(found["rel"][0], "this")
    return calendar_atoms.season(_SEASONS[found["season"]], relation)


def _clock(found: Match) -> Atom | None:
    hour = in_digits(found["hour"])
    exact = bool(found["exact"] or found["to"])
    before = found.string[max(0, found.start() - 2) : found.start()]
    a_little = found["hour"] in ("一", "1") and not exact
    if not hour.isdigit() or int(hour) > 24 or _NO_CLOCK.match(found.string, found.end()):
        return None
    if not exact and (
        _POINTS_LEAD.search(before)
        or (a_little and _A_LITTLE.match(found.string, found.end()) and before[-1:] not in _PART_ENDS)
    ):
        return None
    return clock_atoms.clock(found[0], Company.ATOM if a_little else Company.NONE)


def _every_part(found: Match) -> Atom:
    return clock_atoms.part(f"今{found['part']}", PARTS[found["part"]], Company.NONE)._replace(recurs="daily")


def _month_edge(found: Match) -> Atom:
    return calendar_atoms.edge(_EDGES[found["edge"]])


def _year_edge(found: Match) -> Atom:
    return calendar_atoms.edge(_EDGES[found["edge"]], Level.YEAR)


def _holiday(found: Match) -> Atom:
    return calendar_atoms.date_of_year(*HOLIDAYS[found["holiday"]])


RULES: list[Rule] = [
    (rf"(?P<day>昨|今|明|(?<![以之目])前)(?P<part>{PART}|[早晚夜晨](?![餐饭上]))", _near_part),
    (
        r"(?P<day>大前|(?<![以之目当眼提])前|昨|今|明|大后|(?<![以之然最午今身])后)(?:天(?![气然赋])|日(?!本)|儿个?)(?!性|头条)",
        lambda found: calendar_atoms.near_day(_NEAR[found["day"]]),
    ),
    (r"明后[两二2]?天", lambda _: calendar_atoms.near_day(1)),
    (rf"(?P<rel>{_REL})?{_WEEK}末", _weekend),
    (rf"(?P<rel>{_REL}){_WEEK}(?P<day>[一二三四五六日天1-7])(?![个次])", _weekday),
    (
        rf"(?<![{_DIGITS}姓])(?<!(?<![每这那])个)(?P<rel>(?!))?{_WEEK}(?P<day>[一二三四五六日天1-7])(?![年岁个次])",
        _weekday,
    ),
    (rf"(?P<rel>{_REL}){_WEEK}(?![围边转密])", lambda found: calendar_atoms.near_week(_related(found["rel"]))),
    (rf"(?P<rel>{_REL})月(?![亮饼经薪台])", lambda found: calendar_atoms.near_month(_related(found["rel"]))),
    (
        r"(?P<year>大前|(?<!以)前|去|今|本|明|大后|后)年(?![轻级龄]|(?<=去年)[检审])",
        lambda found: calendar_atoms.near_year(_YEARS[found["year"]]),
    ),
    (
        rf"(?P<time>{_TIME}){_SIDE}",
        _time_distance,
    ),
    (
        rf"(?:(?P<side>再?过|再等)(?P<time>{_TIME})|(?P<time_up>{_TIME})(?=一到|到了|之?后?到点))",
        _time_left,
    ),
    (rf"(?:再过)?(?P<n>{_NUMBER}|半|好?几)个?(?P<half>半)?{_UNIT}(?P<half_more>半)?{_SIDE}", _distance),
    (rf"(?:再过|[还再]有|(?<![^\s,，。！？])过)(?!两[天年])(?P<n>{_NUMBER}|半)个?{_UNIT}", _ahead),
    (rf"(?P<side>过去|最近|近|未来|接下来)(?:的|这)?(?P<n>{_NUMBER}|半)个?{_UNIT}", _around),
    (rf"(?P<month>{_NUMBER})月份?(?P<day>[{_DIGITS}]{{1,3}})(?:[日号]|(?![{_DIGITS}个年月天块点]))", _date),
    (rf"(?P<month>{_NUMBER})月(?:份|(?![天亮]))", _month),
    (r"(?P<decade>(?:(?:19|20)\d|[2-9])0|[二三四五六七八九]十)年代", _decade),
    (
        rf"(?<![{_DIGITS}])(?P<year>\d{{4}}|[零〇一二三四五六七八九]{{4}}|\d\d|[零〇九八][零〇一二三四五六七八九])年"
        rf"(?P<sure>(?=[{_DIGITS}]{{1,2}}月|[春夏秋冬底初]))?(?![前后级代]|[以之][前后])",
        _year,
    ),
    (r"(?P<rel>今|[这上下]个?)(?P<season>[春夏秋冬])[天季]?", _near_season),
    (r"(?P<season>[春夏秋冬])[天季]", _season),
    (r"暑假", lambda _: calendar_atoms.holidays(7, 2)),
    (r"上半年", lambda _: calendar_atoms.holidays(1, 6)),
    (r"下半年", lambda _: calendar_atoms.holidays(7, 6)),
    (rf"(?<![{_DIGITS}])(?P<holiday>{'|'.join(HOLIDAYS)})(?<![五六十]一(?=[{_DIGITS}起个直样定下共会边路]))", _holiday),
    (r"(?:(?<=月)|月(?=[底末初中]))(?P<edge>底|末|初|中旬|上旬|下旬|中)", _month_edge),
    (r"(?P<edge>[上中下]旬)", _month_edge),
    (r"(?:(?<=年)(?<!大年)|(?<!大)年)(?P<edge>底|末|初|(?<=年)中)", _year_edge),
    (rf"(?<![路街巷道弄栋楼室])(?P<day>{_NUMBER})号(?!{_LABELS}|房(?![租贷东]))", _day_of_month),
    (r"(?<!\d)(?P<day>\d{1,2})日(?![游内元本前后圆])", _day_of_month),
    (r"(?:每个?)?工作日", lambda _: atoms.workdays()),
    (rf"每(?:个|天)?(?P<part>{PART}|[早晚夜])", _every_part),
    (rf"每(?:一?个|逢|到)?(?={_WEEK}[一二三四五六日天末1-7])", lambda _: atoms.every_such()),
    (r"每(?:一?个)?(?P<unit>天|日|周|星期|礼拜|月|年)", lambda found: atoms.every(_UNITS[found["unit"]])),
    (r"天天(?!向)", lambda _: atoms.every("day")),
    (
        rf"(?P<to>差{_NUMBER}(?:分钟?|刻钟?)到?)?(?P<hour>(?<![{_DIGITS}.])[{_DIGITS}]{{1,3}})点"
        rf"(?P<exact>[钟整半]|过?[{_DIGITS}]刻|过?(?:[{_DIGITS}]分|[{_DIGITS}]{{2,3}}分?)(?!钟))?",
        _clock,
    ),
    (r"(?<!\d)\d{1,2}时(?:\d{1,2}分)?(?![候间常而代刻段期光])", lambda found: clock_atoms.clock(found[0])),
    (r"(?<![\d:])\d{1,2}:\d{2}(?![\d:])", lambda found: clock_atoms.clock(found[0])),
    (rf"(?<!整)(?<!(?<![周期拜])一)(?:{PART})(?![好安])", lambda found: clock_atoms.part(found[0], PARTS[found[0]])),
    (
        rf"[早晚](?!一点(?![半钟{_DIGITS}]))(?=[{_DIGITS}]{{1,3}}点)",
        lambda found: clock_atoms.part(f"今{found[0]}", PARTS[found[0]]),
    ),
]
