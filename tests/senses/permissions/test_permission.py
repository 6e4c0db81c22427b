"""Who may know, by what a message says: clause by clause, in both languages."""

import time

import pytest

from soulgraph.senses.permissions.permission import Permission, permission_in
from soulgraph.soul.people import EVERYONE

TO_SOME = [
    ("Tell Bob that dinner is at eight.", ("Bob",)),
    ("Could you let my sister know I landed safely?", ("my sister",)),
    ("Feel free to share that with Anna and Tom.", ("Anna", "Tom")),
    ("I don't mind if Grandma knows.", ("Grandma",)),
    ("please pass this on to Mr. Lee: the keys are under the mat", ("Mr. Lee",)),
    ("Bob can know about it, but not Alice.", ("Bob",)),
    ("When you talk to Dad, tell him the car is fixed.", ("Dad",)),
    ("帮我转告小明，明天不用来接我了", ("小明",)),
    ("这件事你可以告诉奶奶", ("奶奶",)),
    ("你跟妈妈说一声，我晚点到家", ("妈妈",)),
    ("麻烦告诉李老师我今天请假，好吗？", ("李老师",)),
    ("这个不用瞒着小红", ("小红",)),
    ("If Marta wonders where I went, you can say I moved to Leeds.", ("Marta",)),
    ("You've got my blessing to talk to Dr. Shaw about my pills.", ("Dr. Shaw",)),
    ("Sure, Nadia can hear the whole story.", ("Nadia",)),
    ("Grandpa has every right to know.", ("Grandpa",)),
    ("Be a darling and remind Frank about his tablets.", ("Frank",)),
    ("Send Papa my love tonight.", ("Papa",)),
    ("ok you can tell mum, but only mum", ("mum",)),
    ("Let Tariq in on it, he won't laugh.", ("Tariq",)),
    ("My lips were sealed but yours needn't be: tell Greta.", ("Greta",)),
    ("Wish Ben good luck for his exam from me.", ("Ben",)),
    ("要是小军打听，你就说我出差了", ("小军",)),
    ("给姐姐带个话，快递到了", ("姐姐",)),
    ("不用瞒我妈，她早晚会知道的", ("我妈",)),
    ("代我向林老师问好", ("林老师",)),
    ("嘱咐一下小宝，作业要签字", ("小宝",)),
    ("替我谢谢王阿姨，饺子很好吃", ("王阿姨",)),
    ("刚才那些话，转给志强也行", ("志强",)),
    ("你跟我爸说吧，我不敢开口", ("我爸",)),
    ("Honestly I've no problem with Dev finding out.", ("Dev",)),
    ("It's fine by me if the carers know.", ("the carers",)),
    ("I told you to keep schtum about the wedding. Well, Rita can know now.", ("Rita",)),
    ("Please apologise to Mr. Osei for me, I was rude.", ("Mr. Osei",)),
    ("There's no harm in Molly knowing.", ("Molly",)),
    ("Okay, share it with the team.", ("the team",)),
    ("Explain to Yuki why I was so grumpy this morning, it was my tooth.", ("Yuki",)),
    ("No one apart from Dina is to hear this.", ("Dina",)),
    ("Tell Alexa to play some jazz.", ("Alexa",)),
    ("老爸那边你去说吧，我怀孕了", ("老爸",)),
    ("同意你把体检结果告诉刘医生", ("刘医生",)),
    ("请代为转告赵女士：她的快递在门卫处", ("赵女士",)),
]

TO_ALL = [
    "I passed the exam!! You can tell everyone.",
    "It's no secret, anyone may know.",
    "我要当爸爸了！跟谁说都行",
    "刚才说的让大家都知道也没关系",
    "Tell whoever asks that I've gone fishing.",
    "It's official, we're engaged, go ahead and announce it!",
    "这事儿公开了，你跟谁聊都成",
    "大伙儿都能知道，不是啥丢人的事",
    "Let it be known that I, Gordon, have quit smoking!",
    "You know what, tell them all. Tell everybody. I'm done hiding.",
    "Anyone can know, honestly.",
    "嗨，这种小事儿，逢人就讲都行",
    "向全世界宣布，我脱单了！",
    "不用替我藏着，谁想听都行",
]

SECRETS = [
    "Please don't tell anyone about this.",
    "This stays between us.",
    "On second thought, don't tell Bob.",
    "My safe's code is 4417, tell nobody.",
    "Tell no one that I am ill.",
    "nobody can find out that I'm sick, ok?",
    "I'd rather mum didn't know.",
    "Can you keep a secret? I'm quitting next month.",
    "You can tell everyone except my wife.",
    "别告诉小明",
    "这事就咱俩知道，千万保密",
    "我改主意了，还是先别跟奶奶说",
    "你可不能说出去啊",
    "不想让同事知道我在看心理医生",
    "替我瞒着爸妈行吗",
    "那件事当我没说，谁都别讲",
    "Don't breathe a word of this to Mum.",
    "I'd die if anyone found out.",
    "Swear you won't tell.",
    "Forget I said Leo could know.",
    "Hush-hush for now, ok? We're expecting.",
    "This is just for you.",
    "My boss can't know I'm job hunting.",
    "Whatever happens, Theo must never find out I read his diary.",
    "I changed my mind about Ella, keep it from her after all.",
    "Let's keep that one in the vault.",
    "You can tell people about the job but the salary stays between us.",
    "pls dont say anything to dad",
    "That was for your ears only, mate.",
    "I'd prefer you didn't share my diagnosis with the others.",
    "Don't go spreading this around.",
    "Can we keep this between ourselves?",
    "千万别跟我妈讲我抽烟的事",
    "你可得替我守住这个秘密",
    "这话我只跟你一个人说",
    "之前说能告诉阿豪的，作废",
    "嘴巴严实点啊，我下个月要辞职",
    "咱们的悄悄话，不可以讲出去哦",
    "我不想被同学知道我尿床",
    "打死也不能说",
    "先瞒着孩子他爸，等检查结果出来再说",
    "小芳要是问，你就说不知道",
    "还是不要让思思知道了吧",
    "这是我和你的约定，谁也不许透露",
    "别到处乱说我离婚的事",
    "说好了啊，天知地知你知我知",
    "Not a peep to the boss, yeah?",
    "It'd kill Dad if he knew, so shh.",
    "I take back what I said about telling Lou. Leave her out of it.",
    "You didn't hear this from me, but I'm leaving Steve.",
    "lips sealed, promise?",
    "My kids don't need to know how bad it is.",
    "Please treat what I told you as confidential.",
    "I stole a lollipop. You won't tell on me, will you?",
    "Do not, under any circumstances, mention the party to Jill.",
    "Remember when I said you could tell Max? I'd rather you didn't.",
]

NOTHING = [
    "Tell me about Bob.",
    "Did you tell Bob?",
    "I told Bob that I was tired.",
    "Should I tell everyone about the baby?",
    "What happens if you tell my mum?",
    "You can tell Bob is exhausted just by looking at him.",
    "My boss said: tell everyone the office is closed.",
    "Let's share a pizza with Tom tonight.",
    "I'll let Anna know myself.",
    "Tell us a story about a king and his daughter.",
    "Everyone knows that cats are liquid.",
    "Don't tell me you forgot again!",
    "The secret of a good risotto is patience.",
    "Anna never tells anybody anything.",
    "What may Bob know about me?",
    "Somebody should tell my neighbours to turn the music down.",
    "告诉我小明是谁",
    "我昨天告诉奶奶了",
    "你跟小明说了吗？",
    "我要不要告诉大家呢",
    "要是你告诉小明，他会怎么想",
    "老师让我告诉家长明天开会",
    "大家都知道他抠门",
    "别告诉我你又忘了",
    "我想跟小红说对不起，怎么开口好",
    "这道菜的秘密在于火候",
    "小明可以告诉你怎么走",
    "我自己跟妈妈说吧",
    "不告诉你，嘿嘿",
    "他说这事谁都可以知道",
    "Could you tell Bob and Rob apart on the phone?",
    "Everyone should know how to swim.",
    "Let Bob cook for once!",
    "If you ever tell Kate, I'll never forgive you.",
    "Tell that to the marines!",
    "I let Sam know this morning.",
    "I'm thinking of telling Victor tonight.",
    "Is it okay to share a bed with my dog?",
    "Why would I let Paul know?",
    "Don't you dare tell me to calm down.",
    "Can people in the other room hear this?",
    "Are you allowed to tell Maya what I told you?",
    "Between you and me there's a big difference in height.",
    "The teacher warned everyone about the test.",
    "老师告诉我们明天放假",
    "我不知道怎么跟他开口",
    "小美居然把我的秘密告诉了全班",
    "大家都说这部电影好看",
    "提醒我下午给客户打电话",
    "和朋友分享美食是最开心的事",
    "谁告诉你的？",
    "跟小朋友说话要温柔",
    "爸爸叫我别告诉妈妈他买了彩票",
    "通知说明天停水",
    "让他知道知道我的厉害！",
    "祝大家新年快乐",
    "Can you tell what Mia's feeling?",
    "Do you think Arthur knows?",
    "She let everyone know she was vegan within five minutes.",
    "I'd have told Ruth if she'd asked.",
    "You should have told Mark!",
    "People tell me I look like my aunt.",
    "Let everyone sing along!",
    "As far as I can tell, Grandad's asleep.",
    "I still haven't decided who may know.",
    "Why can't I tell anyone?",
    "Share prices fell with everyone panicking.",
    "Tell Bob once I'm dead.",
    "我妹把啥都告诉我妈，真是个大嘴巴",
    "你会不会告诉我爸我逃课了",
    "我都跟小刘说了三遍了他还不听",
    "没人知道我有多累",
    "实话告诉你吧，我没钱了",
    "我在想要不要跟领导提加薪",
    "他俩的事全公司都知道",
    "告诉你一个好消息，我涨工资了",
    "我一会儿自己去跟妈讲",
    "难道要我去告诉她吗",
    "等我走了以后再告诉孩子们吧",
    "帮我给小明讲讲这道题",
    "别说了，我都懂",
    "Remind everyone's favourite robot to charge itself.",
    "Just told Fran I'm moving out, she cried.",
    "You can tell a lot about people from their shoes.",
    "Can I tell Zoe?",
    "I'd like Ann to know herself better.",
    "Everyone must know this song, surely!",
    "Ask Google if it's going to rain.",
    "Message received, thanks.",
    "Update the calendar for Friday.",
    "Say something to cheer me up.",
    "Explain photosynthesis to a five-year-old.",
    "Share your thoughts with me.",
    "It's no secret that Ravi snores.",
    "When I see Lily I'll tell her.",
    "Unless Kim objects, tell Lee about it.",
    "In my dream you told Carl everything.",
    "Write a poem: tell Juliet I love her.",
    '"Tell Jim I\'m out," he shouted.',
    "Whoever told Rob is going to pay.",
    "Emma knows already.",
    "Give Molly her medicine at six.",
    "Leave Kate a slice of cake.",
    "Thank God it's Friday.",
    "If the whole class knew, I'd change schools.",
    "He can know whatever he likes.",
    "跟你妈说话客气点",
    "谁都可以学会游泳",
    "我希望全世界都知道和平的珍贵",
    "和小明聊了一下午，真开心",
    "对奶奶说谎是不对的",
    "叫小王听电话",
    "提醒事项怎么设置",
    "你来告诉大家，一加一等于几",
    "帮我问问天气",
    "通知栏老是弹广告",
    "昨天你跟小雅说的我都听见了",
    "和同学们分享了我的零食",
    "我要让所有人知道我的厉害",
    "让妈妈看看这道题",
    "要跟我爸坦白吗？我好怕",
    "替我照顾好小花",
    "随便说说而已",
    "先跟小陈说好价格再签合同",
    "写首诗告诉妈妈我爱她",
    "别提了，今天堵了两小时",
    "算了，不跟你说了",
    "不能吃辣",
    "别让我知道是谁干的",
    "我不知道该不该保密",
]

HOLDS_CONTENT = [
    ("Tell Bob that dinner is at eight.", True),
    ("Could you let my sister know I landed safely?", True),
    ("I passed the exam!! You can tell everyone.", True),
    ("Feel free to share that with Anna and Tom.", False),
    ("It's no secret, anyone may know.", False),
    ("I don't mind if Grandma knows.", False),
    ("please pass this on to Mr. Lee: the keys are under the mat", True),
    ("Bob can know about it, but not Alice.", False),
    ("When you talk to Dad, tell him the car is fixed.", True),
    ("帮我转告小明，明天不用来接我了", True),
    ("这件事你可以告诉奶奶", False),
    ("我要当爸爸了！跟谁说都行", True),
    ("刚才说的让大家都知道也没关系", False),
    ("你跟妈妈说一声，我晚点到家", True),
    ("麻烦告诉李老师我今天请假，好吗？", True),
    ("这个不用瞒着小红", False),
]


@pytest.mark.parametrize(("text", "people"), TO_SOME)
def test_what_is_to_be_passed_on_is_shared_with_those_who_are_named(text, people):
    permission = permission_in(text)
    assert (permission.kind, permission.people) == ("share", people)


@pytest.mark.parametrize("text", TO_ALL)
def test_what_is_no_secret_is_shared_with_everyone(text):
    permission = permission_in(text)
    assert (permission.kind, permission.people) == ("share", (EVERYONE,))


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_and_a_permission_taken_back_are_private(text):
    permission = permission_in(text)
    assert (permission.kind, permission.people) == ("private", ())


@pytest.mark.parametrize("text", NOTHING)
def test_questions_reports_suppositions_and_other_talk_permit_nothing(text):
    assert permission_in(text) is None


@pytest.mark.parametrize(("text", "expected"), HOLDS_CONTENT)
def test_a_message_holds_what_is_to_be_passed_on_or_points_at_what_was_said_before(text, expected):
    assert permission_in(text).own_content is expected


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Tell Bob I am late. Don't tell Anna.", ("Bob",)),
        ("Don't tell anyone. Well, you can tell Bob.", ("Bob",)),
        ("You can tell Bob, but don't tell anyone else.", ("Bob",)),
        ("Don't tell Bob. Oh well, tell Bob.", ("Bob",)),
        ("告诉小明我晚点到，别告诉别人", ("小明",)),
        ("Tell Bob and me that dinner is ready.", ("Bob",)),
        ("Tell Bob. Don't tell Bob.", ()),
        ("Tell Bob I am late. No, don't tell anyone.", ()),
        ("Don't tell my wife. Everyone else can know, tell everyone.", ()),
        ("Don't tell Bob. Say something nice.", ()),
        ("Tell nobody but Bob that I am late.", ("Bob",)),
    ],
)
def test_the_later_act_counts_and_all_but_some_is_nobody(text, people):
    assert permission_in(text).people == people


@pytest.mark.parametrize(
    "text", ["", "。", "“告诉小明我到了”是谁写的", "> Tell Bob I am late", "Tell her I am fine.", "跟他说我没事"]
)
def test_quotations_and_people_who_are_not_named_are_nobody(text):
    assert permission_in(text) is None


def test_traditional_characters_and_full_width_forms_are_read_alike():
    assert permission_in("別告訴小明") == Permission("private", (), False)
    assert permission_in("Ｔｅｌｌ　Ｂｏｂ　Ｉ'm late").people == ("Bob",)


@pytest.mark.parametrize(
    "text", ["Tell " + "Bob, " * 400, "tell a, b, " * 180, "请你就" * 650, "小明也好，" * 400, "Tom and " * 250]
)
def test_a_long_text_is_read_in_reasonable_time(text):
    started = time.perf_counter()
    permission_in(text)
    assert time.perf_counter() - started < 5
