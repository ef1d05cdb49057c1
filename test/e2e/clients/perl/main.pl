# Drives a server with the official Perl client, as its users do.
#
#     perl -I CHECKOUT/lib -I . main.pl NAMESPACE GROUP [KUBECONFIG]
#
# The server is named by the environment variable KUBECONFIG, whose user has a
# token; the user of the other one has a certificate. The namespace exists and is
# empty; the group has no definition yet.

use strict;
use warnings;

use Kubernetes::Util::KubeConfig;
use Harness;
use BuiltinSteps;
use CustomSteps;
use RawSteps;
use WatchSteps;

die "usage: main.pl NAMESPACE GROUP [KUBECONFIG]\n" unless @ARGV >= 2;
my ( $namespace, $group, $certificate ) = @ARGV;

# The client reads kubeconfigs whose users have certificates, and no tokens: who has
# one hands it over.
my $config = Kubernetes::Util::KubeConfig->load_yaml_file( $ENV{KUBECONFIG} );
my $server = $config->{clusters}[0]{cluster};
my $ca     = $server->{'certificate-authority-data'};
my %tls    = $ca ? ( SSL_ca => [ IO::Socket::SSL::Utils::PEM_string2cert( MIME::Base64::decode_base64($ca) ) ] )
  : ( verify_hostname => 0, SSL_verify_mode => IO::Socket::SSL::SSL_VERIFY_NONE() );
my $factory_with = sub {
    my ($token) = @_;
    return Kubernetes::ApiFactory->new(
        base_url       => $server->{server},
        ssl_opts       => \%tls,
        api_key        => { authorization => $token },
        api_key_prefix => { authorization => 'Bearer' },
    );
};
my $factory = $factory_with->( $config->{users}[0]{user}{token} );

my @steps = (
    BuiltinSteps::steps( $factory, $namespace ),
    CustomSteps::steps( $factory, $namespace, $group ),
    RawSteps::steps( $factory, $namespace, $factory_with, $certificate ),
    WatchSteps::steps( $factory, $namespace ),
);
step( splice( @steps, 0, 2 ) ) while @steps;
say_json( finished => JSON::true );
